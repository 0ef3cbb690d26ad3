#include "fallow/ephemeron.h"

#include "fallow/finalizer.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using namespace std::chrono_literals;
using Pair = Ephemeron<Node, Node>;

TEST(Ephemeron, KeepsTheValueWithTheKeyOnly) {
  TestHeap test;
  for (const bool old : {false, true}) {
    Local<Node> key(test.mutator, make<Node>(test.mutator, 1));
    const Local<Pair> pair(test.mutator, [&] {
      // The value refers to the key, which must not keep it.
      const Ref<Node> value = make<Node>(test.mutator, 2);
      value->left = key;
      return make_ephemeron<Node, Node>(test.mutator, key, value);
    }());
    if (old) test.heap.collect();
    test.heap.collect_minor();
    ASSERT_EQ(pair->key(), key.get());
    EXPECT_TRUE(pair->value()->intact(2));
    key = nullptr;
    if (old) {
      test.heap.collect_minor();
      EXPECT_NE(pair->key(), nullptr);
    }
    test.heap.collect();
    EXPECT_EQ(pair->key(), nullptr);
    EXPECT_EQ(pair->value(), nullptr);
    expect_sound(test.heap);
  }
  EXPECT_EQ(test.heap.statistics().ephemerons_cleared, 2U);
}

TEST(Ephemeron, YoungKeysDieInMinorCollections) {
  TestHeap test;
  const Ref<Node> value = make<Node>(test.mutator, 2);
  const Local<Node> kept(test.mutator, value);
  const Local<Pair> pair(
      test.mutator, make_ephemeron<Node, Node>(test.mutator, make<Node>(test.mutator, 1), kept));
  test.heap.collect_minor();
  EXPECT_EQ(pair->key(), nullptr);
  EXPECT_TRUE(kept->intact(2));
}

/// Key i + 1 is reachable through value i alone, and ephemerons are found in the worst order.
void make_ephemeron_chain(TestHeap& test, const Local<Array<Pair>>& pairs, Local<Node>& first) {
  const std::size_t length = pairs->length();
  Local<Node> key(test.mutator, make<Node>(test.mutator, 0));
  first = key;
  for (std::size_t i = 0; i < length; ++i) {
    const Local<Node> next(test.mutator, make<Node>(test.mutator, i + 1));
    put(pairs, length - 1 - i, make_ephemeron<Node, Node>(test.mutator, key, next));
    key = next;
  }
}

TEST(Ephemeron, ChainsInTheWorstOrder) {
  const std::size_t length = scaled(50'000);
  for (const bool old : {false, true}) {
    for (const std::size_t markers : {0, 1}) {
      HeapOptions options = with_nursery(64 * kMiB);
      options.marker_threads = markers;
      TestHeap test(options);
      const Local<Array<Pair>> pairs(test.mutator, make_array<Pair>(test.mutator, length));
      Local<Node> first(test.mutator);
      make_ephemeron_chain(test, pairs, first);
      if (old) test.heap.collect_minor();
      while (old && test.heap.step(0ns).after != CycleState::kIdle) {
      }
      test.heap.collect_minor();
      for (std::size_t i = 0; i < length; ++i) {
        ASSERT_TRUE(pairs->get(length - 1 - i)->value()->intact(i + 1));
      }
      first = nullptr;
      test.heap.collect();
      for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(pairs->get(i)->value(), nullptr);
      expect_sound(test.heap);
    }
  }
}

TEST(Ephemeron, ReadingWhileMarkingKeepsBoth) {
  TestHeap test;
  Local<Node> key(test.mutator, make<Node>(test.mutator, 1));
  const Ref<Node> made = make<Node>(test.mutator, 2);
  Local<Node> value(test.mutator, made);
  const Local<Pair> pair(test.mutator, make_ephemeron<Node, Node>(test.mutator, key, value));
  test.heap.collect();
  key = nullptr;
  value = nullptr;
  ASSERT_EQ(test.heap.step(0ns).after, CycleState::kMarking);
  value = pair->value();
  while (test.heap.step(0ns).after != CycleState::kIdle) {
  }
  EXPECT_TRUE(value->intact(2));
  EXPECT_TRUE(pair->key()->intact(1));
}

TEST(Ephemeron, ANewValueOfAnOldOne) {
  TestHeap test;
  const Local<Node> key(test.mutator, make<Node>(test.mutator, 1));
  const Local<Pair> pair(test.mutator, make_ephemeron<Node, Node>(test.mutator, key, Ref<Node>()));
  test.heap.collect();
  pair->set_value(make<Node>(test.mutator, 3));
  test.heap.collect_minor();
  EXPECT_TRUE(pair->value()->intact(3));
  expect_sound(test.heap);
  pair->clear();
  EXPECT_EQ(pair->key(), nullptr);
  test.heap.collect();
}

struct PairHolder : Object {
  Field<Pair> pair;
  Field<Node> key;
  using Fields = FieldList<&PairHolder::pair, &PairHolder::key>;
};

TEST(Ephemeron, OneThatDiesWithItsKeyKeepsItForTheFinalizer) {
  for (const bool old : {false, true}) {
    TestHeap test;
    FinalizerQueue<PairHolder> queue(test.heap);
    {
      const Local<Node> key(test.mutator, make<Node>(test.mutator, 1));
      const Ref<Node> value = make<Node>(test.mutator, 2);
      const Local<Pair> pair(test.mutator, make_ephemeron<Node, Node>(test.mutator, key, value));
      const Local<PairHolder> holder(test.mutator, make<PairHolder>(test.mutator));
      holder->pair = pair;
      holder->key = key;
      queue.add(test.mutator, holder);
      if (old) test.heap.collect();
    }
    test.heap.collect();
    const Local<PairHolder> holder(test.mutator, queue.next(test.mutator));
    ASSERT_NE(holder, nullptr);
    EXPECT_TRUE(holder->pair->key()->intact(1));
    EXPECT_TRUE(holder->pair->value()->intact(2));
    holder->key = nullptr;
    test.heap.collect();
    EXPECT_EQ(holder->pair->value(), nullptr);
    expect_sound(test.heap);
  }
}

}  // namespace
}  // namespace fallow::test
