// Free memory goes back to the system: when it has aged, at trim(), beside everything else.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "fallow/major_pause.h"
#include "heap/heap_core.h"
#include "heap/heap_registry.h"
#include "platform/resident.h"
#include "tests/heap/child_process.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kAnHour = 3'600'000'000;  // in microseconds
constexpr std::size_t kNodes = 1'000'000;         // 40 MB

HeapOptions with_age(std::uint64_t microseconds, bool thread = true) {
  HeapOptions options = with_nursery(1 * kMiB);
  options.reclaim_age_microseconds = microseconds;
  options.reclaimer_thread = thread;
  return options;
}

/// What is left of a list and of large objects when both are dropped.
void grow_and_drop(TestHeap& test) {
  const Local<Node> list(test.mutator, make_list(test.mutator, kNodes));
  const Local<Array<Bytes>> large(test.mutator, make_array<Bytes>(test.mutator, 300));
  for (std::size_t i = 0; i < 300; ++i) {
    put(large, i, make_values<Bytes>(test.mutator, 100 * kKiB));
    fill_pattern(*large->get(i), i);
  }
  test.heap.collect();
}

bool resident_at_most(std::size_t bytes) {
  // Sanitizers keep memory of their own beside ours.
  return kSanitized || platform::resident_bytes() <= bytes;
}

/// Hands back everything that is free, of one heap, as trim() does after its collection.
void reclaim_all(Heap& heap) {
  detail::HeapCore& core = detail::HeapAccess::core(heap);
  const detail::ThreadAbsence absence;
  bool more = true;
  while (more) {
    detail::with_heaps([&](const auto&) { more = core.reclaim_everything(); });
  }
}

TEST(Reclaim, AgedMemoryGoesBackByItself) {
  const Watchdog watchdog;
  TestHeap test(with_age(0));
  const std::size_t before = platform::resident_bytes();
  grow_and_drop(test);
  test.heap.collect();
  // The watchdog ends the wait.
  while (!resident_at_most(before + 8 * kMiB)) std::this_thread::sleep_for(1ms);
  while (test.heap.statistics().committed > 16 * kMiB) std::this_thread::sleep_for(1ms);
  make_garbage(test.mutator, 4 * kMiB);
  expect_sound(test.heap);
}

TEST(Reclaim, YoungFreeMemoryIsKeptUntilTrim) {
  TestHeap test(with_age(kAnHour));
  const std::size_t before = platform::resident_bytes();
  grow_and_drop(test);
  test.heap.collect();
  detail::HeapCore& core = detail::HeapAccess::core(test.heap);
  EXPECT_GT(core.old_space().resident_free_blocks() * detail::kBlockBytes, 35 * kMiB);
  EXPECT_GT(core.space().dirty_page_bytes(), 25 * kMiB);
  test.heap.trim();
  EXPECT_EQ(core.old_space().resident_free_blocks(), 0U);
  EXPECT_EQ(core.space().dirty_page_bytes(), 0U);
  EXPECT_LE(test.heap.statistics().committed, 1 * kMiB + 4 * kMiB);
  EXPECT_TRUE(resident_at_most(before + 4 * kMiB));
  expect_sound(test.heap);
}

TEST(Reclaim, WithoutTheThreadPausesDoIt) {
  TestHeap test(with_age(0, false));
  const std::size_t before = platform::resident_bytes();
  grow_and_drop(test);
  test.heap.collect();
  // 70 MB in pieces of 256 KiB.
  for (int pause = 0; pause < 500; ++pause) test.heap.collect_minor();
  EXPECT_TRUE(resident_at_most(before + 8 * kMiB));
  EXPECT_LE(test.heap.statistics().committed, 16 * kMiB);
  expect_sound(test.heap);
}

TEST(Reclaim, HolesCostNoMappings) {
  TestHeap test(with_nursery(1 * kMiB));
  const std::size_t mappings = platform::mapping_count();
  const Local<Array<Bytes>> large(test.mutator, make_array<Bytes>(test.mutator, 400));
  for (std::size_t i = 0; i < 400; ++i) {
    put(large, i, make_values<Bytes>(test.mutator, 100 * kKiB));
    fill_pattern(*large->get(i), i);
  }
  for (std::size_t i = 0; i < 400; i += 2) large->set(i, nullptr);
  test.heap.trim();
  EXPECT_LE(platform::mapping_count(), mappings + 20);
  for (std::size_t i = 1; i < 400; i += 2) EXPECT_TRUE(has_pattern(*large->get(i), i));
}

TEST(Reclaim, BetweenAnyTwoStepsOfACycle) {
  HeapOptions options = with_age(kAnHour);
  options.growth_floor_bytes = 1 * kMiB;
  TestHeap test(options);
  const MajorPause by_hand(test.heap);
  const Local<Node> list(test.mutator, make_list(test.mutator, 20'000));
  for (int round = 0; round < 3; ++round) {
    {
      const Local<Node> garbage(test.mutator, make_list(test.mutator, scaled(400'000)));
      test.heap.collect_minor();
    }
    bool ended = false;
    for (int steps = 0; !ended; ++steps) {
      ended = test.heap.step(0ns).cycle_ended;
      reclaim_all(test.heap);
      if (steps % 128 == 0) expect_sound(test.heap);
      make_garbage(test.mutator, 4 * kKiB);
    }
    ASSERT_EQ(check_list(list), 20'000U);
    expect_sound(test.heap);
  }
}

TEST(Reclaim, MutatorsFindWhatTheyWerePromised) {
  const Watchdog watchdog;
  HeapOptions options = with_age(0);
  options.nursery_bytes = 64 * kKiB;
  options.hard_limit_bytes = 64 * kMiB;
  Heap heap(options);
  std::atomic<bool> done{false};
  std::thread reclaims([&] {
    while (!done.load()) reclaim_all(heap);
  });
  std::thread other([&] {
    Mutator mutator(heap, "other");
    while (!done.load()) {
      const Local<Node> list(mutator, make_list(mutator, 20'000));
      if (check_list(list) != 20'000) std::abort();
    }
  });
  {
    Mutator mutator(heap, "test");
    for (std::size_t round = 0; round < scaled(60); ++round) {
      const Local<Node> list(mutator, make_list(mutator, 100'000));
      ASSERT_EQ(check_list(list), 100'000U);
      if (round % 16 == 0) heap.collect();
    }
  }
  done.store(true);
  reclaims.join();
  other.join();
  expect_sound(heap);
}

TEST(Reclaim, ForksFallBetweenBatches) {
  const Watchdog watchdog;
  TestHeap test(with_age(0));
  const Local<Node> list(test.mutator, make_list(test.mutator, 1000));
  for (std::size_t i = 0; i < (kSanitized ? 4 : 20); ++i) {
    grow_and_drop(test);
    test.heap.collect();
    const std::string child = run_in_child([&] {
      if (check_list(list) != 1000) return 1;
      grow_and_drop(test);
      test.heap.collect();
      for (int pause = 0; pause < 500; ++pause) test.heap.collect_minor();
      if (!test.heap.verify().complaints.empty()) return 2;
      return test.heap.statistics().committed <= 24 * kMiB ? 0 : 3;
    });
    ASSERT_EQ(child, "exit 0");
  }
  EXPECT_EQ(check_list(list), 1000U);
}

TEST(Reclaim, TheAgeIsTheTimeSinceABlockOfTheChunkBecameFree) {
  TestHeap test(with_age(kAnHour));
  grow_and_drop(test);
  test.heap.collect();
  detail::HeapCore& core = detail::HeapAccess::core(test.heap);
  const std::uint64_t now = platform::monotonic_ns();
  const std::uint64_t hour = kAnHour * 1000;
  const std::size_t free = core.old_space().resident_free_blocks();
  const detail::ThreadAbsence absence;
  detail::with_heaps([&](const auto&) {
    // Chunks that were never used need no age.
    while (core.reclaim_batch(now) == detail::Reclaimed::kSome) {
    }
    EXPECT_EQ(core.reclaim_batch(now + hour / 2), detail::Reclaimed::kLater);
    EXPECT_EQ(core.old_space().resident_free_blocks(), free);
    EXPECT_EQ(core.reclaim_batch(now + 2 * hour), detail::Reclaimed::kSome);
    EXPECT_LT(core.old_space().resident_free_blocks(), free);
    while (core.reclaim_batch(now + 2 * hour) == detail::Reclaimed::kSome) {
    }
  });
  // What the next nursery needs stays.
  EXPECT_GE(core.old_space().resident_free_blocks() * detail::kBlockBytes, 1 * kMiB);
  EXPECT_LE(core.old_space().resident_free_blocks() * detail::kBlockBytes, 2 * kMiB);
}

}  // namespace
}  // namespace fallow::test
