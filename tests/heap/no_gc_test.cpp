// NoGc: no collection of any kind, as promised on entry, and a clear word when it could not be
// kept.
#include "fallow/no_gc.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "fallow/errors.h"
#include "tests/heap/child_process.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using namespace std::chrono_literals;

TEST(NoGc, RefsStayValidForWhatWasAnnounced) {
  for (const std::size_t nursery : {16 * kKiB, 64 * kKiB, 1 * kMiB}) {
    TestHeap test(with_nursery(nursery));
    make_garbage(test.mutator, nursery * 2 / 3);
    const std::size_t count = nursery / 2 / sizeof(Node) - 1;
    for (int round = 0; round < 10; ++round) {
      const NoGc scope(test.mutator, count * sizeof(Node), 1h);
      const std::uint64_t before = test.heap.statistics().minor_collections;
      Ref<Node> head;  // in no slot: a collection would lose it
      for (std::uint64_t i = 0; i < count; ++i) {
        const Ref<Node> node = make<Node>(test.mutator, i);
        node->right = head;
        head = node;
      }
      EXPECT_EQ(test.heap.statistics().minor_collections, before);
      EXPECT_EQ(check_list(head), count);
      EXPECT_FALSE(scope.report().overrun);
      EXPECT_EQ(scope.report().allocated_bytes, count * sizeof(Node));
    }
    EXPECT_EQ(test.heap.statistics().no_gc_scopes, 10U);
    EXPECT_EQ(test.heap.statistics().no_gc_overruns, 0U);
    expect_sound(test.heap);
  }
}

TEST(NoGc, AllocatingMoreThanAnnouncedEndsItEarly) {
  TestHeap test(with_nursery(64 * kKiB));
  {
    const NoGc scope(test.mutator, 1 * kKiB, 1h);
    const Local<Node> list(test.mutator, make_list(test.mutator, 10'000));
    EXPECT_TRUE(scope.report().overrun);
    EXPECT_EQ(check_list(list), 10'000U);
    test.heap.collect();  // nothing is left to be protected
  }
  EXPECT_EQ(test.heap.statistics().no_gc_overruns, 1U);
  const NoGc scope(test.mutator, 1 * kKiB, 1h);
  EXPECT_FALSE(scope.report().overrun);
}

TEST(NoGc, NestsWithinThePromise) {
  TestHeap test(with_nursery(64 * kKiB));
  const NoGc outer(test.mutator, 16 * kKiB, 1h);
  {
    const NoGc inner(test.mutator, 8 * kKiB, 1h);
    EXPECT_THROW(NoGc(test.mutator, 17 * kKiB, 1h), UsageError);
    make<Node>(test.mutator, 1);
  }
  EXPECT_FALSE(outer.report().overrun);
  EXPECT_THROW(test.heap.collect(), UsageError);
  EXPECT_THROW(test.heap.collect_minor(), UsageError);
  EXPECT_THROW(test.heap.step(1us), UsageError);
  EXPECT_THROW(test.heap.trim(), UsageError);
  EXPECT_EQ(test.heap.statistics().minor_collections + test.heap.statistics().full_collections, 0U);
}

TEST(NoGc, WhatCannotBePromisedIsRefused) {
  TestHeap test(with_nursery(64 * kKiB));
  EXPECT_THROW(NoGc(test.mutator, 33 * kKiB, 1h), UsageError);
  EXPECT_THROW(NoGc(test.mutator, SIZE_MAX, 1h), UsageError);
  EXPECT_EQ(test.heap.statistics().no_gc_scopes, 0U);
  test.heap.collect();
}

TEST(NoGc, LargeObjectsDoNotCollectEither) {
  TestHeap test(with_nursery(64 * kKiB));
  const NoGc scope(test.mutator, 1 * kKiB, 1h);
  for (int i = 0; i < 40; ++i) make_values<Bytes>(test.mutator, 1 * kMiB);
  EXPECT_EQ(test.heap.statistics().minor_collections, 0U);
  EXPECT_FALSE(scope.report().overrun);
}

TEST(NoGcThreads, OthersWaitForTheEnd) {
  const Watchdog watchdog;
  Heap heap(with_nursery(256 * kKiB));
  Mutator mutator(heap, "holder");
  std::atomic<bool> in_scope{false};
  std::atomic<std::uint64_t> at_end{0};
  std::thread other([&] {
    Mutator own(heap, "other");
    while (!in_scope) own.poll();
    make_garbage(own, 2 * kMiB);  // needs several collections
    EXPECT_GT(heap.statistics().minor_collections, at_end);
  });
  for (int round = 0; round < 20; ++round) {
    const NoGc scope(mutator, 64 * kKiB, 1h);
    in_scope = true;
    const std::uint64_t before = heap.statistics().minor_collections;
    Ref<Node> head;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const Ref<Node> node = make<Node>(mutator, i);
      node->right = head;
      head = node;
      std::this_thread::yield();
    }
    EXPECT_EQ(check_list(head), 1000U);
    EXPECT_EQ(heap.statistics().minor_collections, before);
    EXPECT_FALSE(scope.report().overrun);
    at_end = before;
  }
  const Parked parked(mutator);
  other.join();
}

TEST(NoGcThreads, TheDeadlineLetsOthersGoOn) {
  const Watchdog watchdog;
  Heap heap(with_nursery(256 * kKiB));
  Mutator mutator(heap, "holder");
  {
    const NoGc scope(mutator, 1 * kKiB, 1ms);
    std::thread other([&] {
      Mutator own(heap, "other");
      make_garbage(own, 2 * kMiB);
    });
    {
      const Parked parked(mutator);
      other.join();
    }
    EXPECT_TRUE(scope.report().overrun);
  }
  EXPECT_EQ(heap.statistics().no_gc_overruns, 1U);
  EXPECT_GT(heap.statistics().minor_collections, 0U);
}

TEST(NoGcThreads, AForkChildIsNotHeldByScopesOfOtherThreads) {
  const Watchdog watchdog;
  Heap heap(with_nursery(256 * kKiB));
  std::atomic<bool> in_scope{false};
  std::atomic<bool> done{false};
  std::thread other([&] {
    Mutator own(heap, "holder");
    const NoGc scope(own, 1 * kKiB, 1h);
    in_scope = true;
    while (!done) own.poll();
  });
  while (!in_scope) std::this_thread::yield();
  Mutator mutator(heap, "forks");
  EXPECT_EQ(run_in_child([&] {
              make_garbage(mutator, 2 * kMiB);
              heap.collect();
              return 0;
            }),
            "exit 0");
  done = true;
  const Parked parked(mutator);
  other.join();
}

}  // namespace
}  // namespace fallow::test
