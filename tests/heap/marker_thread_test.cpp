// The thread that marks beside the program.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "fallow/major_pause.h"
#include "fallow/no_gc.h"
#include "tests/heap/child_process.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kNodes = 20'000;

HeapOptions with_marker(std::size_t nursery = 256 * kKiB) {
  HeapOptions options = with_nursery(nursery);
  options.marker_threads = 1;
  return options;
}

/// Waits until the marker thread has marked so much in all.
void wait_for_marker(const Heap& heap, std::size_t bytes) {
  while (heap.statistics().marker_bytes < bytes) std::this_thread::yield();
}

TEST(MarkerThread, MarksWhatTheProgramDoesNot) {
  const Watchdog watchdog;
  TestHeap test(with_marker());
  const Local<Node> list(test.mutator, make_list(test.mutator, kNodes));
  Recorder recorder;
  test.heap.add_listener(recorder);
  ASSERT_EQ(test.heap.step(0ns).after, CycleState::kMarking);
  wait_for_marker(test.heap, (kNodes - 1000) * sizeof(Node));
  EXPECT_EQ(test.heap.statistics().cycle, CycleState::kMarking) << "a pause has to end it";
  EXPECT_GT(test.heap.statistics().marker_cpu_ns, 0U);
  test.heap.collect();
  test.heap.remove_listener(recorder);
  ASSERT_EQ(recorder.fulls.size(), 2U);
  EXPECT_GT(recorder.fulls[0].marker_cpu_ns, 0U);
  EXPECT_EQ(check_list(list), kNodes);
  EXPECT_EQ(expect_sound(test.heap).objects, kNodes);
  EXPECT_EQ(test.heap.statistics().old_used, kNodes * sizeof(Node)) << "counted twice, or not";
}

TEST(MarkerThread, WithoutItNothingIsMarkedBesideTheProgram) {
  TestHeap test(with_nursery(256 * kKiB));
  const Local<Node> list(test.mutator, make_list(test.mutator, kNodes));
  test.heap.step(0ns);
  test.heap.collect();
  EXPECT_EQ(test.heap.statistics().marker_bytes, 0U);
}

TEST(MarkerThread, LongArraysAndLargeObjects) {
  const Watchdog watchdog;
  TestHeap test(with_marker());
  constexpr std::size_t kLength = 30'000;
  const Local<Array<Node>> array(test.mutator, make_array<Node>(test.mutator, kLength));
  for (std::size_t i = 0; i < kLength; ++i) put(array, i, make<Node>(test.mutator, i));
  const Local<Array<Bytes>> blobs(test.mutator, make_array<Bytes>(test.mutator, 50));
  test.heap.collect_minor();
  test.heap.step(0ns);
  // New large objects, which it may find in the old array at once.
  for (std::size_t i = 0; i < 50; ++i) put(blobs, i, make_values<Bytes>(test.mutator, 64 * kKiB));
  for (std::size_t i = 0; i < 50; ++i) fill_pattern(*blobs->get(i), i);
  wait_for_marker(test.heap, kLength * (sizeof(Node) + sizeof(void*)));
  test.heap.collect();
  for (std::size_t i = 0; i < kLength; ++i) ASSERT_TRUE(array->get(i)->intact(i));
  for (std::size_t i = 0; i < 50; ++i) ASSERT_TRUE(has_pattern(*blobs->get(i), i));
  expect_sound(test.heap);
}

/// Moves nodes about in old tables while cycles run; all of them must stay, and nothing else.
void shuffle_nodes(Heap& heap, std::uint64_t seed) {
  Mutator mutator(heap, "shuffles");
  constexpr std::size_t kLength = 2000;
  const Local<Array<Node>> table(mutator, make_array<Node>(mutator, kLength));
  for (std::size_t i = 0; i < kLength; ++i) {
    const Local<Node> pair(mutator, make<Node>(mutator, i));
    pair->left = make<Node>(mutator, i + kLength);
    table->set(i, pair);
  }
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < 200'000; ++i) {
    const std::size_t a = random() % kLength;
    const std::size_t b = random() % kLength;
    // The left nodes change places: each is in no slot for a moment.
    const Ref<Node> first = table->get(a);
    const Ref<Node> second = table->get(b);
    const Ref<Node> left = first->left;
    first->left = second->left;
    second->left = left;
    if (i % 2 != 0) continue;
    const Local<Node> fresh(mutator, make<Node>(mutator, i));
    fresh->left = table->get(a)->left;
    table->set(a, fresh);
  }
  std::vector<bool> seen(kLength);
  for (std::size_t i = 0; i < kLength; ++i) {
    const Ref<Node> left = table->get(i)->left;
    ASSERT_GE(left->id, kLength);
    ASSERT_TRUE(left->intact(left->id));
    ASSERT_FALSE(seen[left->id - kLength]);
    seen[left->id - kLength] = true;
  }
}

TEST(MarkerThread, BesideMutatorsThatMoveReferences) {
  const Watchdog watchdog;
  HeapOptions options = with_marker(32 * kKiB);
  options.growth_floor_bytes = 1 * kMiB;
  options.growth_factor = 1.1;
  options.step_budget_microseconds = 20;
  Heap heap(options);
  const std::uint64_t seed = seed_or(11);
  std::thread other([&heap, seed] { shuffle_nodes(heap, seed + 1); });
  shuffle_nodes(heap, seed);
  other.join();
  EXPECT_GT(heap.statistics().full_collections, 3U);
  EXPECT_GT(heap.statistics().marker_bytes, 0U);
  heap.collect();
  EXPECT_EQ(expect_sound(heap).objects, 0U);
}

TEST(MarkerThread, RestsDuringAMajorPause) {
  const Watchdog watchdog;
  TestHeap test(with_marker());
  const Local<Node> list(test.mutator, make_list(test.mutator, kNodes));
  {
    const MajorPause pause(test.heap);
    ASSERT_EQ(test.heap.step(0ns).after, CycleState::kMarking);
    for (int i = 0; i < 20; ++i) {
      make_garbage(test.mutator, 1 * kMiB);
      ASSERT_EQ(test.heap.statistics().marker_bytes, 0U);
    }
  }
  // The next pause wakes it.
  test.heap.step(0ns);
  wait_for_marker(test.heap, (kNodes - 1000) * sizeof(Node));
  EXPECT_EQ(check_list(list), kNodes);
}

TEST(MarkerThread, RestsInANoGcScope) {
  const Watchdog watchdog;
  TestHeap test(with_marker());
  const Local<Node> list(test.mutator, make_list(test.mutator, kNodes));
  test.heap.step(0ns);
  {
    const NoGc scope(test.mutator, 64 * kKiB);
    // A piece that it was marking may come to its end.
    expect_sound(test.heap);
    const std::uint64_t marked = test.heap.statistics().marker_bytes;
    for (int i = 0; i < 1000; ++i) {
      make<Node>(test.mutator);
      ASSERT_EQ(test.heap.statistics().marker_bytes, marked);
    }
  }
  test.heap.collect();
  EXPECT_EQ(check_list(list), kNodes);
}

TEST(MarkerThread, AHeapMayEndInTheMiddleOfACycle) {
  const Watchdog watchdog;
  for (int round = 0; round < 20; ++round) {
    const auto test = std::make_unique<TestHeap>(with_marker());
    const Local<Node> list(test->mutator, make_list(test->mutator, kNodes / 10));
    test->heap.step(0ns);
    // Each time it has come a little further.
    wait_for_marker(test->heap, static_cast<std::size_t>(round) * 64);
  }
}

TEST(MarkerThread, TheChildOfAForkMarksWithoutIt) {
  const Watchdog watchdog;
  TestHeap test(with_marker());
  const Local<Node> list(test.mutator, make_list(test.mutator, kNodes));
  for (int round = 0; round < 5; ++round) {
    test.heap.step(0ns);
    const std::string ended = run_in_child([&] {
      const std::uint64_t marked = test.heap.statistics().marker_bytes;
      while (!test.heap.step(100us).cycle_ended) {
      }
      test.heap.collect();
      if (!test.heap.verify().complaints.empty()) return 1;
      if (check_list(list) != kNodes) return 2;
      return test.heap.statistics().marker_bytes == marked ? 0 : 3;
    });
    EXPECT_EQ(ended, "exit 0");
    test.heap.collect();
  }
  const std::uint64_t marked = test.heap.statistics().marker_bytes;
  test.heap.step(0ns);
  wait_for_marker(test.heap, marked + 1000 * sizeof(Node));
  EXPECT_EQ(check_list(list), kNodes);
}

TEST(MarkerThread, TheChildMayDestroyTheHeap) {
  const Watchdog watchdog;
  auto test = std::make_unique<TestHeap>(with_marker());
  make_list(test->mutator, 1000);
  test->heap.step(0ns);
  const std::string ended = run_in_child([&] {
    test.reset();
    // ThreadSanitizer ends a child that starts a thread.
    constexpr bool kNewThread = !platform::thread_sanitizer_active();
    TestHeap fresh(kNewThread ? with_marker() : HeapOptions{});
    const Local<Node> list(fresh.mutator, make_list(fresh.mutator, 1000));
    fresh.heap.step(0ns);
    if (kNewThread) wait_for_marker(fresh.heap, 900 * sizeof(Node));
    return check_list(list) == 1000 ? 0 : 1;
  });
  EXPECT_EQ(ended, "exit 0");
}

}  // namespace
}  // namespace fallow::test
