#include "fallow/weak.h"

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using namespace std::chrono_literals;
using WeakNode = Weak<Node>;

TEST(Weak, YoungToYoungFollowsAndClears) {
  TestHeap test;
  const Local<Node> kept(test.mutator, make<Node>(test.mutator, 1));
  const Local<WeakNode> to_kept(test.mutator, make_weak<Node>(test.mutator, kept));
  const Local<WeakNode> to_dropped(test.mutator,
                                   make_weak<Node>(test.mutator, make<Node>(test.mutator, 2)));
  ASSERT_NE(to_dropped->get(), nullptr);
  EXPECT_TRUE(to_dropped->get()->intact(2));
  test.heap.collect_minor();
  EXPECT_EQ(to_kept->get(), kept.get());
  EXPECT_EQ(to_dropped->get(), nullptr);
  expect_sound(test.heap);
}

TEST(Weak, OldToOldClearsAtTheFullCollection) {
  TestHeap test;
  Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
  const Local<WeakNode> weak(test.mutator, make_weak<Node>(test.mutator, node));
  test.heap.collect();
  EXPECT_EQ(weak->get(), node.get());
  node = nullptr;
  test.heap.collect_minor();
  EXPECT_NE(weak->get(), nullptr) << "old objects die in full collections";
  test.heap.collect();
  EXPECT_EQ(weak->get(), nullptr);
  expect_sound(test.heap);
}

TEST(Weak, YoungToOldAndToLarge) {
  TestHeap test;
  Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
  Local<Bytes> large(test.mutator, make_values<Bytes>(test.mutator, 100'000));
  test.heap.collect();
  const Local<WeakNode> to_old(test.mutator, make_weak<Node>(test.mutator, node));
  const Local<Weak<Bytes>> to_large(test.mutator, make_weak<Bytes>(test.mutator, large));
  const Local<Weak<Bytes>> to_young_large(
      test.mutator, make_weak<Bytes>(test.mutator, make_values<Bytes>(test.mutator, 100'000)));
  test.heap.collect_minor();
  EXPECT_EQ(to_old->get(), node.get());
  EXPECT_EQ(to_large->get(), large.get());
  EXPECT_EQ(to_young_large->get(), nullptr);
  node = nullptr;
  large = nullptr;
  test.heap.collect();
  EXPECT_EQ(to_old->get(), nullptr);
  EXPECT_EQ(to_large->get(), nullptr);
}

TEST(Weak, OneThatDiesIsForgotten) {
  TestHeap test;
  const Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
  for (int i = 0; i < 1000; ++i) make_weak<Node>(test.mutator, node);
  test.heap.collect();
  test.heap.collect();
  expect_sound(test.heap);
  EXPECT_LE(test.heap.statistics().life_entry_bytes, 2U * 64 * kKiB);
}

TEST(Weak, ReadingWhileMarkingKeepsTheTargetForThisCycle) {
  for (const std::size_t markers : {0, 1}) {
    HeapOptions options;
    options.marker_threads = markers;
    TestHeap test(options);
    Local<Node> node(test.mutator, make<Node>(test.mutator, 7));
    const Local<WeakNode> weak(test.mutator, make_weak<Node>(test.mutator, node));
    test.heap.collect();
    node = nullptr;
    ASSERT_EQ(test.heap.step(0ns).after, CycleState::kMarking);
    node = weak->get();
    ASSERT_NE(node, nullptr);
    while (test.heap.step(0ns).after != CycleState::kIdle) {
    }
    EXPECT_TRUE(node->intact(7));
    EXPECT_EQ(weak->get(), node.get());
    node = nullptr;
    test.heap.collect();
    EXPECT_EQ(weak->get(), nullptr);
  }
}

TEST(Weak, AfterMarkingADeadTargetReadsAsNullBeforeItIsCleared) {
  TestHeap test;
  constexpr std::size_t kCount = 5000;
  const Local<Array<WeakNode>> all(test.mutator, make_array<WeakNode>(test.mutator, kCount));
  for (std::size_t i = 0; i < kCount; ++i) {
    put(all, i, make_weak<Node>(test.mutator, make<Node>(test.mutator, i)));
    if (i % 100 == 0) test.heap.collect_minor();
  }
  const Local<Node> last(test.mutator, make<Node>(test.mutator, 1));
  put(all, 0, make_weak<Node>(test.mutator, last));
  test.heap.collect_minor();
  StepResult result = test.heap.step(0ns);
  bool seen_finalizing = false;
  while (result.after != CycleState::kIdle) {
    result = test.heap.step(0ns);
    if (result.after == CycleState::kMarking) continue;
    seen_finalizing = seen_finalizing || result.after == CycleState::kFinalizing;
    for (std::size_t i = 1; i < kCount; ++i) ASSERT_EQ(all->get(i)->get(), nullptr) << i;
    ASSERT_EQ(all->get(0)->get(), last.get());
    expect_sound(test.heap);
  }
  EXPECT_TRUE(seen_finalizing);
}

TEST(WeakQueue, DeliversWhatWasClearedYoungAndOld) {
  TestHeap test;
  WeakQueue<Node> queue(test.heap);
  int called = 0;
  queue.on_pending([&called] { ++called; });
  Local<Node> old(test.mutator, make<Node>(test.mutator, 1));
  const Local<WeakNode> first(test.mutator, make_weak<Node>(test.mutator, old, queue, 11));
  test.heap.collect();
  const Local<WeakNode> second(
      test.mutator, make_weak<Node>(test.mutator, make<Node>(test.mutator, 2), queue, 22));
  EXPECT_EQ(queue.next(test.mutator), nullptr);
  EXPECT_EQ(called, 0);
  test.heap.collect_minor();
  EXPECT_EQ(called, 1);
  EXPECT_EQ(queue.pending(), 1U);
  const Ref<WeakNode> cleared = queue.next(test.mutator);
  ASSERT_NE(cleared, nullptr);
  EXPECT_EQ(cleared->tag(), 22U);
  EXPECT_EQ(cleared, second.get());
  old = nullptr;
  test.heap.collect();
  EXPECT_EQ(called, 2);
  EXPECT_EQ(queue.next(test.mutator)->tag(), 11U);
  EXPECT_EQ(queue.next(test.mutator), nullptr);
}

TEST(WeakQueue, KeepsWhatWaitsAndForgetsWhatIsDeadOrClearedByHand) {
  TestHeap test;
  WeakQueue<Node> queue(test.heap);
  make_weak<Node>(test.mutator, make<Node>(test.mutator, 1), queue, 1);
  Local<WeakNode> weak(test.mutator,
                       make_weak<Node>(test.mutator, make<Node>(test.mutator, 2), queue, 2));
  const Local<WeakNode> by_hand(
      test.mutator, make_weak<Node>(test.mutator, make<Node>(test.mutator, 3), queue, 3));
  by_hand->clear();
  test.heap.collect_minor();
  weak = nullptr;
  test.heap.collect();
  test.heap.collect();
  ASSERT_EQ(queue.pending(), 1U);
  EXPECT_EQ(queue.next(test.mutator)->tag(), 2U);
}

TEST(WeakQueue, MayEndBeforeItsRegistrations) {
  TestHeap test;
  Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
  std::vector<std::unique_ptr<Global<WeakNode>>> weak;
  for (int round = 0; round < 3; ++round) {
    WeakQueue<Node> queue(test.heap);
    weak.push_back(
        std::make_unique<Global<WeakNode>>(test.heap, make_weak<Node>(test.mutator, node, queue)));
    make_weak<Node>(test.mutator, make<Node>(test.mutator, 1), queue, 1);
    if (round == 1) test.heap.collect();
  }
  node = nullptr;
  test.heap.collect();
  test.heap.collect();
  for (const auto& each : weak) EXPECT_EQ((*each)->get(), nullptr);
  expect_sound(test.heap);
}

TEST(Weak, AMillionToGarbageGiveTheirTableBack) {
  TestHeap test;
  const std::size_t count = scaled(200'000);
  {
    const Local<Array<WeakNode>> all(test.mutator, make_array<WeakNode>(test.mutator, count));
    for (std::size_t i = 0; i < count; ++i) {
      put(all, i, make_weak<Node>(test.mutator, make<Node>(test.mutator, i)));
    }
    EXPECT_GT(test.heap.statistics().life_entry_bytes, 0U);
    test.heap.collect();
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(all->get(i)->get(), nullptr);
  }
  EXPECT_LE(test.heap.statistics().life_entry_bytes, 2U * 64 * kKiB);
  EXPECT_EQ(test.heap.statistics().weak_cleared, count);
}

}  // namespace
}  // namespace fallow::test
