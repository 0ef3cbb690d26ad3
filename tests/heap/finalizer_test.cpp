#include "fallow/finalizer.h"

#include <algorithm>
#include <thread>

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using namespace std::chrono_literals;
using Queue = FinalizerQueue<Node>;

std::vector<std::uint64_t> drain(Queue& queue, Mutator& mutator) {
  std::vector<std::uint64_t> ids;
  while (const Ref<Node> node = queue.next(mutator)) {
    EXPECT_TRUE(node->intact(node->id));
    ids.push_back(node->id);
  }
  return ids;
}

TEST(Finalizer, YoungAndOldOnceEach) {
  TestHeap test;
  Queue queue(test.heap);
  int called = 0;
  queue.on_pending([&called] { ++called; });
  Local<Node> old(test.mutator, make<Node>(test.mutator, 1));
  EXPECT_TRUE(queue.add(test.mutator, old));
  EXPECT_FALSE(queue.add(test.mutator, old)) << "registered already";
  test.heap.collect();
  queue.add(test.mutator, make<Node>(test.mutator, 2));
  test.heap.collect_minor();
  EXPECT_EQ(drain(queue, test.mutator), std::vector<std::uint64_t>{2});
  old = nullptr;
  test.heap.collect();
  EXPECT_EQ(called, 2);
  EXPECT_EQ(drain(queue, test.mutator), std::vector<std::uint64_t>{1});
  test.heap.collect();
  EXPECT_EQ(queue.pending(), 0U);
  EXPECT_EQ(expect_sound(test.heap).objects, 0U);
}

TEST(Finalizer, ResurrectedAndRegisteredAgain) {
  TestHeap test;
  Queue queue(test.heap);
  queue.add(test.mutator, make<Node>(test.mutator, 5));
  for (int round = 0; round < 4; ++round) {
    round == 0 ? test.heap.collect_minor() : test.heap.collect();
    Local<Node> node(test.mutator, queue.next(test.mutator));
    ASSERT_NE(node, nullptr) << round;
    EXPECT_TRUE(node->intact(5));
    test.heap.collect();
    EXPECT_EQ(queue.pending(), 0U);
    EXPECT_TRUE(queue.add(test.mutator, node));
  }
}

TEST(Finalizer, ARegistrationCanBeTakenBack) {
  TestHeap test;
  Queue queue(test.heap);
  for (const bool old : {false, true}) {
    Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
    queue.add(test.mutator, node);
    if (old) test.heap.collect();
    EXPECT_TRUE(Queue::remove(node));
    EXPECT_FALSE(Queue::remove(node));
    // Twice in the books, once to be delivered.
    EXPECT_TRUE(queue.add(test.mutator, node));
    node = nullptr;
    test.heap.collect();
    EXPECT_EQ(drain(queue, test.mutator).size(), 1U);
    node = make<Node>(test.mutator, 1);
    queue.add(test.mutator, node);
    Queue::remove(node);
    node = nullptr;
    test.heap.collect();
    EXPECT_EQ(queue.pending(), 0U);
  }
}

/// A chain in which each refers to the next, registered in the order of `step`.
void make_chain(TestHeap& test, Queue& queue, std::size_t length, std::size_t step, bool old) {
  const Local<Array<Node>> all(test.mutator, make_array<Node>(test.mutator, length));
  for (std::size_t i = 0; i < length; ++i) put(all, i, make<Node>(test.mutator, i));
  for (std::size_t i = 0; i + 1 < length; ++i) all->get(i)->left = all->get(i + 1);
  for (std::size_t i = 0; i < length; ++i) {
    queue.add(test.mutator, all->get(i * step % length));
  }
  if (old) test.heap.collect();
}

TEST(Finalizer, AChainComesInOneCollectionInOrder) {
  for (const bool old : {false, true}) {
    // A young array that is large would count as a root.
    const std::size_t length = old ? scaled(20'000) / 7 * 7 + 1 : 7 * 130 + 1;
    for (const std::size_t step : {std::size_t{1}, length - 1, std::size_t{7}}) {
      HeapOptions options;
      options.nursery_bytes = 64 * kMiB;
      TestHeap test(options);
      Queue queue(test.heap);
      make_chain(test, queue, length, step, old);
      old ? test.heap.collect() : test.heap.collect_minor();
      const std::vector<std::uint64_t> ids = drain(queue, test.mutator);
      ASSERT_EQ(ids.size(), length);
      EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    }
  }
}

/// Random graphs with ordinary objects between those with finalizers: whoever reaches another one
/// comes first, unless it is part of a cycle.
TEST(Finalizer, RandomGraphsComeInOrder) {
  const std::size_t graphs = scaled(300);
  for (std::uint64_t seed = 1; seed <= graphs; ++seed) {
    platform::SplitMix64 random(seed);
    HeapOptions options = with_nursery(seed % 3 == 0 ? 16 * kKiB : 1 * kMiB);
    TestHeap test(options);
    Queue queue(test.heap);
    constexpr std::size_t kNodes = 24;
    std::vector<std::vector<bool>> reaches(kNodes, std::vector<bool>(kNodes));
    std::vector<bool> registered(kNodes);
    {
      const Local<Array<Node>> all(test.mutator, make_array<Node>(test.mutator, kNodes));
      for (std::size_t i = 0; i < kNodes; ++i) put(all, i, make<Node>(test.mutator, i));
      for (std::size_t i = 0; i < kNodes; ++i) {
        for (int side = 0; side < 2; ++side) {
          if (random.next() % 3 == 0) continue;
          const std::size_t to = random.next() % kNodes;
          // Mostly upwards, so that cycles stay rare.
          if (to <= i && random.next() % 8 != 0) continue;
          (side == 0 ? all->get(i)->left : all->get(i)->right) = all->get(to);
          reaches[i][to] = true;
        }
      }
      for (std::size_t i = 0; i < kNodes; ++i) {
        registered[i] = random.next() % 2 == 0;
        if (registered[i]) queue.add(test.mutator, all->get(i));
      }
      if (seed % 2 == 0) test.heap.collect();
    }
    test.heap.collect();
    for (std::size_t k = 0; k < kNodes; ++k) {
      for (std::size_t i = 0; i < kNodes; ++i) {
        for (std::size_t j = 0; j < kNodes; ++j) {
          if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
        }
      }
    }
    const std::vector<std::uint64_t> ids = drain(queue, test.mutator);
    ASSERT_EQ(ids.size(),
              static_cast<std::size_t>(std::count(registered.begin(), registered.end(), true)));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      for (std::size_t j = i + 1; j < ids.size(); ++j) {
        EXPECT_FALSE(reaches[ids[j]][ids[i]] && !reaches[ids[j]][ids[j]])
            << "seed " << seed << ": " << ids[i] << " came before " << ids[j];
      }
    }
  }
}

TEST(Finalizer, LargeObjectsTakePartInTheOrder) {
  TestHeap test;
  FinalizerQueue<Object> queue(test.heap);
  for (const bool old : {false, true}) {
    {
      constexpr std::size_t kLength = 5000;
      const Local<Array<Node>> array(test.mutator, make_array<Node>(test.mutator, kLength));
      for (std::size_t i = 0; i < kLength; i += 100) put(array, i, make<Node>(test.mutator, i));
      for (std::size_t i = 0; i < kLength; i += 100) queue.add(test.mutator, array->get(i));
      queue.add(test.mutator, array);
      const Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
      queue.add(test.mutator, node);
      if (old) test.heap.collect();
    }
    std::vector<bool> is_array;
    const auto drain_queue = [&] {
      while (const Ref<Object> each = queue.next(test.mutator)) {
        is_array.push_back(detail::ObjectAccess::descriptor(each.get())->items !=
                           TypeDescriptor::Items::kNone);
      }
    };
    // What a young large array holds outlives it until the next full collection.
    test.heap.collect_minor();
    drain_queue();
    test.heap.collect();
    drain_queue();
    ASSERT_EQ(is_array.size(), 52U);
    const auto place = std::find(is_array.begin(), is_array.end(), true) - is_array.begin();
    EXPECT_LE(place, 1) << "behind what is in it";
  }
}

TEST(Finalizer, WeakReferencesAreClearedBefore) {
  TestHeap test;
  Queue queue(test.heap);
  for (const bool old : {false, true}) {
    Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
    const Ref<Node> child = make<Node>(test.mutator, 2);
    node->left = child;
    const Local<Weak<Node>> to_node(test.mutator, make_weak<Node>(test.mutator, node));
    const Local<Weak<Node>> to_kept(test.mutator, make_weak<Node>(test.mutator, node->left));
    queue.add(test.mutator, node);
    if (old) test.heap.collect();
    node = nullptr;
    old ? test.heap.collect() : test.heap.collect_minor();
    EXPECT_EQ(to_node->get(), nullptr);
    EXPECT_EQ(to_kept->get(), nullptr) << "reachable only from what is dead";
    const Ref<Node> dead = queue.next(test.mutator);
    ASSERT_NE(dead, nullptr);
    EXPECT_TRUE(dead->left->intact(2));
  }
}

struct WeakHolder : Object {
  Field<Weak<Node>> dead;
  Field<Weak<Node>> living;
  using Fields = FieldList<&WeakHolder::dead, &WeakHolder::living>;
};

TEST(Finalizer, AWeakReferenceFoundOnlyThroughAResurrectedObject) {
  for (const bool old : {false, true}) {
    TestHeap test;
    FinalizerQueue<WeakHolder> queue(test.heap);
    const Local<Node> node(test.mutator, make<Node>(test.mutator, 3));
    {
      const Local<WeakHolder> holder(test.mutator, make<WeakHolder>(test.mutator));
      const Ref<Weak<Node>> dead = make_weak<Node>(test.mutator, make<Node>(test.mutator, 4));
      holder->dead = dead;
      const Ref<Weak<Node>> living = make_weak<Node>(test.mutator, node);
      holder->living = living;
      queue.add(test.mutator, holder);
      if (old) test.heap.collect();
    }
    test.heap.collect();
    const Local<WeakHolder> holder(test.mutator, queue.next(test.mutator));
    ASSERT_NE(holder, nullptr);
    EXPECT_EQ(holder->dead->get(), nullptr);
    EXPECT_EQ(holder->living->get(), node.get());
    test.heap.collect();
    EXPECT_EQ(holder->living->get(), node.get());
    expect_sound(test.heap);
  }
}

TEST(Finalizer, WhatWaitsIsKeptThroughCyclesInSteps) {
  for (const std::size_t markers : {0, 1}) {
    HeapOptions options = with_nursery(256 * kKiB);
    options.marker_threads = markers;
    TestHeap test(options);
    Queue queue(test.heap);
    constexpr std::size_t kCount = 3000;
    for (std::size_t i = 0; i < kCount; ++i) {
      queue.add(test.mutator, make_tree(test.mutator, 2, i));
    }
    test.heap.collect_minor();
    std::size_t seen = 0;
    for (std::size_t steps = 0; seen < kCount; ++steps) {
      test.heap.step(0ns);
      if (steps % 3 == 0) make_garbage(test.mutator, 10'000);
      const Local<Node> node(test.mutator, queue.next(test.mutator));
      if (!node) continue;
      ++seen;
      test.heap.step(0ns);
      ASSERT_TRUE(check_tree(node, 2, node->id));
    }
  }
}

TEST(Finalizer, EndlessGarbageTakesBoundedMemory) {
  TestHeap test(with_nursery(256 * kKiB));
  Queue queue(test.heap);
  std::size_t delivered = 0;
  const std::size_t count = scaled(500'000);
  for (std::size_t i = 0; i < count; ++i) {
    queue.add(test.mutator, make<Node>(test.mutator, i));
    if (i % 100 == 0) delivered += drain(queue, test.mutator).size();
  }
  test.heap.collect();
  delivered += drain(queue, test.mutator).size();
  EXPECT_EQ(delivered, count);
  EXPECT_LE(test.heap.statistics().life_entry_bytes, 4 * kMiB);
  EXPECT_LE(test.heap.statistics().old_used, 16 * kMiB);
}

TEST(Finalizer, WhatIsKeptOnlyForThemDoesNotRaiseTheNextThreshold) {
  HeapOptions options = with_nursery(256 * kKiB);
  options.growth_floor_bytes = 1 * kMiB;
  TestHeap test(options);
  Queue queue(test.heap);
  Local<Node> tree(test.mutator, make_tree(test.mutator, 16));
  queue.add(test.mutator, tree);
  test.heap.collect();
  EXPECT_GT(test.heap.statistics().next_full_at, 2 * kMiB);
  tree = nullptr;
  test.heap.collect();
  EXPECT_EQ(queue.pending(), 1U);
  EXPECT_EQ(test.heap.statistics().next_full_at, 1 * kMiB);
}

TEST(Finalizer, TheEndOfTheQueueForgetsItsObjects) {
  TestHeap test;
  Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
  {
    Queue queue(test.heap);
    queue.add(test.mutator, node);
    test.heap.collect_minor();
    queue.add(test.mutator, make<Node>(test.mutator, 2));
    test.heap.collect_minor();
  }
  test.heap.collect();
  Queue queue(test.heap);
  EXPECT_TRUE(queue.add(test.mutator, node));
  node = nullptr;
  test.heap.collect();
  EXPECT_EQ(drain(queue, test.mutator), std::vector<std::uint64_t>{1});
}

TEST(FinalizerThreads, TwoMutatorsRegisterAndDrain) {
  const Watchdog watchdog(200);
  HeapOptions options = with_nursery(128 * kKiB);
  options.marker_threads = 1;
  Heap heap(options);
  Queue queue(heap);
  std::atomic<std::uint64_t> delivered{0};
  const std::size_t count = scaled(50'000);
  const auto work = [&] {
    Mutator mutator(heap);
    for (std::size_t i = 0; i < count; ++i) {
      queue.add(mutator, make<Node>(mutator, i));
      while (const Ref<Node> node = queue.next(mutator)) {
        ASSERT_TRUE(node->intact(node->id));
        delivered.fetch_add(1);
      }
    }
  };
  std::thread other(work);
  work();
  other.join();
  Mutator mutator(heap);
  heap.collect();
  delivered += drain(queue, mutator).size();
  EXPECT_EQ(delivered.load(), 2 * count);
}

}  // namespace
}  // namespace fallow::test
