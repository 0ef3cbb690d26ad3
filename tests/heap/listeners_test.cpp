// Event listeners and statistics: what happened is reported once, in order, with figures that
// agree.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "fallow/events.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

TEST(Listeners, EventsAgreeWithTheStatistics) {
  HeapOptions options = with_nursery(64 * kKiB);
  options.growth_floor_bytes = 1 * kMiB;
  // All steps follow minor collections, however slow the processor is.
  options.step_budget_microseconds = 10'000'000;
  TestHeap test(options);
  Recorder recorder;
  test.heap.add_listener(recorder);
  Local<Node> kept(test.mutator);
  for (int round = 0; round < 20; ++round) {
    kept = make_list(test.mutator, 10'000);
    make_values<Bytes>(test.mutator, 50 * kKiB);
  }
  test.heap.collect();
  test.heap.collect_minor();
  const HeapStatistics statistics = test.heap.statistics();
  test.heap.remove_listener(recorder);
  ASSERT_EQ(recorder.minors.size(), statistics.minor_collections);
  ASSERT_EQ(recorder.fulls.size(), statistics.full_collections);
  EXPECT_GT(recorder.fulls.size(), 1U) << "the growth rule did not start any";
  std::uint64_t promoted = 0;
  for (std::size_t i = 0; i < recorder.minors.size(); ++i) {
    const MinorEvent& event = recorder.minors[i];
    EXPECT_EQ(event.number, i + 1);
    EXPECT_LE(event.nursery_bytes, 64 * kKiB);
    promoted += event.surviving_bytes;
  }
  EXPECT_EQ(promoted, statistics.promoted);
  for (std::size_t i = 0; i < recorder.fulls.size(); ++i) {
    const FullEvent& event = recorder.fulls[i];
    EXPECT_EQ(event.number, i + 1);
    EXPECT_GT(event.used_bytes_after, 0U);
    // The others were spread over steps, between which the program went on.
    if (i + 1 == recorder.fulls.size()) {
      EXPECT_LE(event.used_bytes_after, event.used_bytes_before);
    }
    EXPECT_GT(event.next_full_at, event.used_bytes_after);
  }
  EXPECT_EQ(recorder.minors.back().used_bytes, statistics.old_used + statistics.large_used);
  EXPECT_EQ(recorder.fulls.back().next_full_at, statistics.next_full_at);
  EXPECT_EQ(statistics.minor_wall.count, statistics.minor_collections);
  EXPECT_EQ(statistics.minor_cpu.count, statistics.minor_collections);
  EXPECT_EQ(statistics.full_wall.count, 1U) << "the others were in steps";
  EXPECT_EQ(statistics.full_cpu.count, 1U);
  EXPECT_EQ(statistics.pause_wall.count, statistics.minor_collections);
  EXPECT_EQ(statistics.pause_cpu.count, statistics.minor_collections);
  EXPECT_EQ(statistics.stop_wall.count, statistics.minor_collections);
  const auto longest = std::max_element(
      recorder.minors.begin(), recorder.minors.end(),
      [](const MinorEvent& a, const MinorEvent& b) { return a.wall_ns < b.wall_ns; });
  EXPECT_EQ(statistics.minor_wall.max_ns, longest->wall_ns);
  EXPECT_LE(statistics.minor_wall.p50_ns, statistics.minor_wall.p99_ns);
  EXPECT_LE(statistics.minor_wall.p99_ns, statistics.minor_wall.p999_ns);
}

TEST(Listeners, SeveralAreCalledUntilTheyAreRemoved) {
  TestHeap test(with_nursery(64 * kKiB));
  Recorder recorders[3];
  for (Recorder& recorder : recorders) test.heap.add_listener(recorder);
  test.heap.collect_minor();
  test.heap.remove_listener(recorders[1]);
  test.heap.collect();
  test.heap.remove_listener(recorders[0]);
  test.heap.collect_minor();
  test.heap.add_listener(recorders[1]);
  test.heap.collect();
  EXPECT_EQ(recorders[0].minors.size(), 2U);
  EXPECT_EQ(recorders[0].fulls.size(), 1U);
  EXPECT_EQ(recorders[1].minors.size(), 2U);
  EXPECT_EQ(recorders[1].fulls.size(), 1U);
  EXPECT_EQ(recorders[2].minors.size(), 4U);
  EXPECT_EQ(recorders[2].fulls.size(), 2U);
  test.heap.remove_listener(recorders[1]);
  test.heap.remove_listener(recorders[2]);
  test.heap.remove_listener(recorders[2]);
  test.heap.collect();
  EXPECT_EQ(recorders[2].minors.size(), 4U);
}

TEST(ListenersThreads, SeeTheEventsInOrder) {
  const Watchdog watchdog;
  Heap heap(with_nursery(64 * kKiB));
  Recorder recorder;
  heap.add_listener(recorder);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      Mutator mutator(heap);
      for (std::size_t k = 0; k < scaled(3000); ++k) {
        make_list(mutator, 30);
        k % 100 == 0 ? heap.collect() : heap.collect_minor();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  heap.remove_listener(recorder);
  ASSERT_EQ(recorder.minors.size(), heap.statistics().minor_collections);
  for (std::size_t i = 0; i < recorder.minors.size(); ++i) {
    ASSERT_EQ(recorder.minors[i].number, i + 1);
  }
  for (std::size_t i = 0; i < recorder.fulls.size(); ++i) {
    ASSERT_EQ(recorder.fulls[i].number, i + 1);
  }
}

TEST(ListenersThreads, ComeAndGoDuringCollections) {
  const Watchdog watchdog;
  Heap heap(with_nursery(64 * kKiB));
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      Mutator mutator(heap);
      while (!done.load()) heap.collect_minor();
    });
  }
  for (std::size_t i = 0; i < scaled(2000); ++i) {
    // After its removal the listener is not called again, so it may go away.
    Recorder recorder;
    heap.add_listener(recorder);
    heap.collect_minor();
    heap.remove_listener(recorder);
    const std::size_t seen = recorder.minors.size();
    EXPECT_GE(seen, 1U);
    std::this_thread::yield();
    EXPECT_EQ(recorder.minors.size(), seen);
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
}

TEST(Statistics, CountWhatWasAllocated) {
  TestHeap test(with_nursery(64 * kKiB));
  const HeapStatistics before = test.heap.statistics();
  constexpr std::size_t kCount = 100'000;
  for (std::size_t i = 0; i < kCount; ++i) make<Node>(test.mutator, i);
  const HeapStatistics after = test.heap.statistics();
  EXPECT_GE(after.allocated - before.allocated, kCount * sizeof(Node));
  EXPECT_LE(after.allocated - before.allocated, kCount * sizeof(Node) * 11 / 10 + 64 * kKiB);
  EXPECT_LE(after.promoted, 2 * after.minor_collections * sizeof(Node));
  EXPECT_EQ(after.mutators, 1U);
  const std::uint64_t large = after.allocated;
  make_values<Bytes>(test.mutator, 1 * kMiB);
  EXPECT_GE(test.heap.statistics().allocated - large, 1 * kMiB);
}

TEST(Statistics, FullCollectionsFollowTheGrowthRule) {
  HeapOptions options = with_nursery(64 * kKiB);
  options.growth_floor_bytes = 4 * kMiB;
  options.growth_factor = 2;
  options.step_budget_microseconds = 0;  // so that a collection is over where it begins
  TestHeap test(options);
  Recorder recorder;
  test.heap.add_listener(recorder);
  Local<Node> head(test.mutator);
  // Everything stays alive: the heap only grows.
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    Ref<Node> previous = head;
    const Ref<Node> node = make<Node>(test.mutator, live(previous), i);
    node->right = previous;
    head = node;
  }
  test.heap.remove_listener(recorder);
  ASSERT_GE(recorder.fulls.size(), 3U);
  std::size_t threshold = options.growth_floor_bytes;
  for (const FullEvent& event : recorder.fulls) {
    EXPECT_GE(event.used_bytes_before, threshold);
    EXPECT_LE(event.used_bytes_before, threshold + 128 * kKiB) << "it starts at once";
    EXPECT_EQ(event.used_bytes_after, event.used_bytes_before) << "nothing was dead";
    EXPECT_LE(event.next_full_at, event.used_bytes_after * 2);
    threshold = event.next_full_at;
  }
  // Growth by a factor: a constant amount each time would have meant many more.
  EXPECT_LE(recorder.fulls.size(), 12U);
  EXPECT_EQ(check_list(head), 1'000'000U);
}

TEST(Statistics, TheGrowthCapStartsFullCollectionsEarlier) {
  const auto full_collections = [](std::size_t cap) {
    HeapOptions options = with_nursery(64 * kKiB);
    options.growth_floor_bytes = 1 * kMiB;
    options.growth_factor = 4;
    options.growth_cap_bytes = cap;
    options.step_budget_microseconds = 0;
    TestHeap test(options);
    const Local<Node> list(test.mutator, make_list(test.mutator, 400'000));
    return test.heap.statistics().full_collections;
  };
  EXPECT_GT(full_collections(1 * kMiB), full_collections(0));
}

}  // namespace
}  // namespace fallow::test
