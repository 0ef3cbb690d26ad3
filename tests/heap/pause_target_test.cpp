// The size of the young space under a pause target: by arithmetic, and in a heap.
#include "heap/pause_target.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "heap/heap_core.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using detail::PauseTarget;

constexpr std::uint64_t kTarget = 1'000'000;  // ns

TEST(PauseTarget, NoneMeansTheWholeNursery) {
  PauseTarget none(0, 8 * kMiB);
  none.learn(8 * kMiB, 30'000'000);
  EXPECT_EQ(none.young_bytes(), 8 * kMiB);
  EXPECT_EQ(none.step_allowance(500'000, 30'000'000), 500'000U);
}

TEST(PauseTarget, BeginsSmallAndGrowsWhileLittleSurvives) {
  PauseTarget target(kTarget, 8 * kMiB);
  EXPECT_LT(target.young_bytes(), 512 * kKiB);
  int collections = 0;
  for (; target.young_bytes() < 8 * kMiB; ++collections) {
    ASSERT_LT(collections, 10'000);
    const std::size_t before = target.young_bytes();
    target.learn(before, before / 100);
    EXPECT_GE(target.young_bytes(), before);
  }
  EXPECT_GT(collections, 1000);
}

TEST(PauseTarget, OneExpensiveCollectionShrinksItAtOnce) {
  PauseTarget target(kTarget, 8 * kMiB);
  for (int i = 0; i < 10'000; ++i) target.learn(8 * kMiB, 1000);
  EXPECT_EQ(target.young_bytes(), 8 * kMiB);
  target.learn(8 * kMiB, 8 * kMiB);  // a nanosecond a byte
  EXPECT_LE(target.young_bytes(), 600'000U);
  EXPECT_GE(target.young_bytes(), 590'000U);
}

/// A program of which every k-th nursery survives: pauses above the target are rare.
TEST(PauseTarget, GoldenShareOfPausesAboveTheTarget) {
  for (const int every : {1, 2, 10, 100, 400, 1000, 2000}) {
    PauseTarget target(kTarget, 8 * kMiB);
    int above = 0;
    for (int i = 0; i < 20'000; ++i) {
      const double ns_per_byte = i % every == 0 ? 1.2 : 0.001;
      const auto ns =
          static_cast<std::uint64_t>(static_cast<double>(target.young_bytes()) * ns_per_byte);
      above += ns > kTarget ? 1 : 0;
      target.learn(target.young_bytes(), ns);
    }
    EXPECT_LE(above, 20) << "every " << every;
  }
}

TEST(PauseTarget, AStepGetsWhatTheCopiesLeave) {
  const PauseTarget target(kTarget, 8 * kMiB);
  EXPECT_EQ(target.step_allowance(500'000, 0), 500'000U);
  EXPECT_EQ(target.step_allowance(500'000, 600'000), 300'000U);
  EXPECT_EQ(target.step_allowance(500'000, 2'000'000), 20'000U);
  EXPECT_EQ(target.step_allowance(10'000, 2'000'000), 10'000U);
}

TEST(PauseTarget, TheHeapCollectsMoreOftenAndStaysSound) {
  for (const std::size_t nursery : {64 * kKiB, 1 * kMiB, 8 * kMiB}) {
    HeapOptions options = with_nursery(nursery);
    options.pause_target_microseconds = 100;
    TestHeap test(options);
    Recorder recorder;
    test.heap.add_listener(recorder);
    const Local<Node> list(test.mutator, make_list(test.mutator, 200'000));
    test.heap.remove_listener(recorder);
    EXPECT_EQ(check_list(list), 200'000U);
    expect_sound(test.heap);
    ASSERT_FALSE(recorder.minors.empty());
    const std::size_t chunk = detail::HeapAccess::core(test.heap).nursery().chunk_bytes();
    // 100 µs pay for 40 KB at the first guess, and everything survives.
    for (const MinorEvent& event : recorder.minors) {
      EXPECT_LE(event.nursery_bytes, std::max<std::size_t>(chunk, 64 * kKiB));
    }
  }
}

TEST(PauseTarget, SeveralMutatorsGetTheirChunks) {
  HeapOptions options = with_nursery(256 * kKiB);
  options.pause_target_microseconds = 1;
  TestHeap test(options);
  std::vector<std::unique_ptr<Mutator>> mutators;
  std::deque<Local<Node>> lists;
  for (int i = 0; i < 8; ++i) {
    mutators.push_back(std::make_unique<Mutator>(test.heap, "more"));
    lists.emplace_back(*mutators.back());
  }
  for (std::uint64_t id = 0; id < 5000; ++id) {
    for (std::size_t i = 0; i < 8; ++i) {
      Ref<Node> head = lists[i];
      Ref<Node> node = make<Node>(*mutators[i], live(head), id);
      node->right = head;
      lists[i] = node;
    }
  }
  for (std::size_t i = 8; i-- > 0;) {
    EXPECT_EQ(check_list(lists[i]), 5000U);
    lists.pop_back();
  }
  EXPECT_EQ(test.heap.statistics().large_used, 0U);
  while (!mutators.empty()) mutators.pop_back();
  expect_sound(test.heap);
}

}  // namespace
}  // namespace fallow::test
