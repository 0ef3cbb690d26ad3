// Full collections in steps: by the heap itself, by the program, and not at all.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "fallow/events.h"
#include "fallow/major_pause.h"
#include "heap/heap_core.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using namespace std::chrono_literals;

HeapOptions small_floor(std::size_t nursery) {
  HeapOptions options = with_nursery(nursery);
  options.growth_floor_bytes = 1 * kMiB;
  // Steps are as long as pacing wants: with a slow processor, too, cycles end at their goals.
  options.step_budget_microseconds = 10'000'000;
  return options;
}

TEST(Step, AWholeCycleOfSmallSteps) {
  TestHeap test(with_nursery(256 * kKiB));
  const Local<Node> list(test.mutator, make_list(test.mutator, 200'000));
  {
    const Local<Node> garbage(test.mutator, make_list(test.mutator, 100'000));
  }
  test.heap.collect_minor();
  const std::size_t used = test.heap.statistics().old_used;
  Recorder recorder;
  test.heap.add_listener(recorder);
  StepResult result = test.heap.step(0ns);
  EXPECT_EQ(result.before, CycleState::kIdle);
  EXPECT_EQ(result.after, CycleState::kMarking);
  EXPECT_GT(result.remaining_mark_bytes, 0U);
  std::size_t marked = result.marked_bytes;
  std::size_t steps = 1;
  for (; !result.cycle_ended; ++steps) {
    ASSERT_LT(steps, 100'000U);
    result = test.heap.step(1us);
    marked += result.marked_bytes;
    if (steps % 64 == 0) expect_sound(test.heap);
  }
  test.heap.remove_listener(recorder);
  EXPECT_GT(steps, 50U);
  EXPECT_EQ(recorder.steps.size(), steps);
  ASSERT_EQ(recorder.fulls.size(), 1U);
  EXPECT_GE(recorder.fulls[0].steps, steps);
  EXPECT_GE(marked, 200'000 * sizeof(Node));
  EXPECT_LT(test.heap.statistics().old_used, used - 90'000 * sizeof(Node));
  EXPECT_EQ(test.heap.statistics().full_collections, 1U);
  EXPECT_EQ(check_list(list), 200'000U);
  expect_sound(test.heap);
}

TEST(Step, UsageTellsWhenToCollect) {
  TestHeap test(with_nursery(256 * kKiB));
  const HeapUsage fresh = test.heap.usage();
  EXPECT_EQ(fresh.old, 0U);
  EXPECT_EQ(fresh.cycle, CycleState::kIdle);
  EXPECT_EQ(fresh.next_full_at, test.heap.statistics().next_full_at);
  const Local<Node> list(test.mutator, make_list(test.mutator, 1000));
  EXPECT_GE(test.heap.usage().young, 1000 * sizeof(Node));
  EXPECT_EQ(test.heap.usage().old, 0U);
  test.heap.collect_minor();
  EXPECT_EQ(test.heap.usage().young, 0U);
  EXPECT_EQ(test.heap.usage().old, 1000 * sizeof(Node));
  const Local<Bytes> bytes(test.mutator, make_values<Bytes>(test.mutator, 1 * kMiB));
  EXPECT_GE(test.heap.usage().young, 1 * kMiB);
  test.heap.step(0ns);
  EXPECT_EQ(test.heap.usage().cycle, CycleState::kMarking);
  EXPECT_GE(test.heap.usage().old, 1 * kMiB + 1000 * sizeof(Node));
}

TEST(Step, UnlimitedDoesItAtOnce) {
  TestHeap test(with_nursery(256 * kKiB));
  const Local<Node> list(test.mutator, make_list(test.mutator, 50'000));
  const StepResult result = test.heap.step(1h);
  EXPECT_TRUE(result.cycle_ended);
  EXPECT_EQ(result.after, CycleState::kIdle);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(test.heap.step_until(now - 1s).after, CycleState::kMarking);
  EXPECT_TRUE(test.heap.step_until(now + 1h).cycle_ended);
  EXPECT_EQ(test.heap.statistics().full_collections, 2U);
  EXPECT_EQ(check_list(list), 50'000U);
}

TEST(Step, TheHeapCollectsItselfInSteps) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(small_floor(nursery));
    Recorder recorder;
    test.heap.add_listener(recorder);
    std::mt19937_64 random(seed_or(1));
    Local<Array<Node>> table(test.mutator, make_array<Node>(test.mutator, 5000));
    for (std::size_t i = 0; i < std::max<std::size_t>(scaled(300'000), 100'000); ++i) {
      put(table, random() % 5000, make<Node>(test.mutator, i));
      if (i % 7 == 0) table->set(random() % 5000, nullptr);
    }
    test.heap.remove_listener(recorder);
    const HeapStatistics statistics = test.heap.statistics();
    // So much garbage reaches the old space only from small nurseries.
    if (nursery <= 256 * kKiB) {
      EXPECT_GE(statistics.full_collections, 1U);
    }
    EXPECT_EQ(recorder.fulls.size(), statistics.full_collections);
    EXPECT_EQ(statistics.step_cpu.count, recorder.steps.size());
    EXPECT_EQ(statistics.full_cpu.count, 0U) << "one was not sliced";
    // 5 000 nodes are alive; garbage must not pile up beyond the goal by much.
    EXPECT_LT(statistics.old_used, 8 * kMiB);
    for (std::size_t i = 0; i < 5000; ++i) {
      const Ref<Node> node = table->get(i);
      if (node) {
        ASSERT_TRUE(node->intact(node->id));
      }
    }
    expect_sound(test.heap);
  });
}

TEST(Step, LargeObjectsAloneKeepTheCycleGoing) {
  HeapOptions options = small_floor(256 * kKiB);
  TestHeap test(options);
  Local<Array<Bytes>> ring(test.mutator, make_array<Bytes>(test.mutator, 16));
  std::size_t highest = 0;
  for (std::size_t i = 0; i < 3000; ++i) {
    const Local<Bytes> bytes(test.mutator, make_values<Bytes>(test.mutator, 64 * kKiB));
    ring->set(i % 16, bytes);
    highest = std::max(highest, test.heap.statistics().large_used);
  }
  EXPECT_GT(test.heap.statistics().full_collections, 2U);
  EXPECT_LT(highest, 48 * kMiB);
}

TEST(Step, AYoungLargeObjectThatDiesWhileMarkingIsForgotten) {
  TestHeap test(small_floor(64 * kKiB));
  const Local<Array<Bytes>> table(test.mutator, make_array<Bytes>(test.mutator, 4));
  test.heap.collect_minor();
  EXPECT_EQ(test.heap.step(0ns).after, CycleState::kMarking);
  for (int i = 0; i < 3; ++i) {
    const Ref<Bytes> bytes = make_values<Bytes>(test.mutator, 64 * kKiB);
    table->set(1, bytes);
    table->set(1, nullptr);
    test.heap.collect_minor();
  }
  while (!test.heap.step(1h).cycle_ended) {
  }
  EXPECT_EQ(expect_sound(test.heap).objects, 1U);
}

TEST(MajorPause, NothingStartsOrContinuesByItself) {
  TestHeap test(small_floor(256 * kKiB));
  Local<Node> list(test.mutator);
  {
    const MajorPause pause(test.heap);
    const MajorPause nested(test.heap);
    EXPECT_EQ(test.heap.statistics().major_pauses, 2);
    for (int i = 0; i < 20; ++i) list = make_list(test.mutator, 50'000);
    EXPECT_EQ(test.heap.statistics().full_collections, 0U);
    EXPECT_EQ(test.heap.statistics().cycle, CycleState::kIdle);
    EXPECT_GT(test.heap.statistics().minor_collections, 10U);
    // Explicit calls work, and what they begin waits again.
    EXPECT_EQ(test.heap.step(0ns).after, CycleState::kMarking);
    const std::uint64_t steps = test.heap.statistics().step_cpu.count;
    for (int i = 0; i < 5; ++i) list = make_list(test.mutator, 50'000);
    EXPECT_EQ(test.heap.statistics().step_cpu.count, steps);
    expect_sound(test.heap);
    test.heap.collect();
    EXPECT_GE(test.heap.statistics().full_collections, 1U);
  }
  EXPECT_EQ(test.heap.statistics().major_pauses, 0);
  const std::uint64_t before = test.heap.statistics().full_collections;
  for (int i = 0; i < 20; ++i) list = make_list(test.mutator, 50'000);
  EXPECT_GT(test.heap.statistics().full_collections, before);
  EXPECT_EQ(check_list(list), 50'000U);
}

TEST(MajorPause, AnAllocationAboutToFailCollectsAllTheSame) {
  HeapOptions options = small_floor(256 * kKiB);
  options.hard_limit_bytes = 64 * kMiB;
  TestHeap test(options);
  const MajorPause pause(test.heap);
  Local<Node> list(test.mutator);
  for (int i = 0; i < 50; ++i) list = make_list(test.mutator, 50'000);
  EXPECT_EQ(check_list(list), 50'000U);
  EXPECT_GT(test.heap.statistics().full_collections, 0U);
}

TEST(Step, WithoutABudgetTheHeapStopsForAWholeCycle) {
  HeapOptions options = small_floor(256 * kKiB);
  options.step_budget_microseconds = 0;
  TestHeap test(options);
  Local<Node> list(test.mutator);
  for (int i = 0; i < 20; ++i) list = make_list(test.mutator, 50'000);
  const HeapStatistics statistics = test.heap.statistics();
  EXPECT_GT(statistics.full_collections, 0U);
  EXPECT_EQ(statistics.full_cpu.count, statistics.full_collections);
  EXPECT_EQ(statistics.step_cpu.count, 0U);
}

/// Marking is far more than a step after each minor collection can do: the mutator pays for more.
TEST(Step, BetweenMinorCollectionsOfAProgramThatKeepsEverything) {
  HeapOptions options = with_nursery(256 * kKiB);
  options.growth_floor_bytes = 1 * kMiB;
  options.step_budget_microseconds = 50;
  TestHeap test(options);
  Recorder recorder;
  test.heap.add_listener(recorder);
  const std::size_t length = scaled(2'000'000);
  Local<Node> list(test.mutator);
  for (std::size_t id = 0; id < length; ++id) {
    Ref<Node> head = list;
    Ref<Node> node = make<Node>(test.mutator, live(head), id);
    node->right = head;
    list = node;
  }
  test.heap.remove_listener(recorder);
  EXPECT_EQ(check_list(list), length);
  // How many there are is a matter of speed.
  EXPECT_FALSE(recorder.steps.empty());
  expect_sound(test.heap);
}

/// The steps between minor collections are taken by whoever takes memory.
TEST(StepThreads, SeveralMutatorsPayTogether) {
  HeapOptions options = with_nursery(1 * kMiB);
  options.growth_floor_bytes = 1 * kMiB;
  options.step_budget_microseconds = 50;
  Heap heap(options);
  std::vector<std::thread> threads;
  std::atomic<int> intact{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      Mutator mutator(heap, "pays");
      const std::size_t length = scaled(300'000);
      const Local<Node> list(mutator, make_list(mutator, length));
      const Local<Bytes> large(mutator, make_values<Bytes>(mutator, 100 * kKiB));
      if (check_list(list) == length) ++intact;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(intact.load(), 3);
  expect_sound(heap);
}

}  // namespace
}  // namespace fallow::test
