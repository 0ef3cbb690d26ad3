// The soft limit, and the share of the time that limits may cost.
#include <chrono>
#include <cstdint>

#include "fallow/errors.h"
#include "heap/heap_core.h"
#include "heap/share_cap.h"
#include "platform/clock.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using detail::ShareCap;

constexpr std::uint64_t kMs = 1'000'000;  // ns

TEST(ShareCap, TheTimeBetweenCollectionsPaysForThem) {
  ShareCap cap(0.25);
  EXPECT_TRUE(cap.is_paid(0));
  cap.collected(100 * kMs, 1000 * kMs);
  // A quarter of the time: three times as long without.
  EXPECT_FALSE(cap.is_paid(1299 * kMs));
  EXPECT_TRUE(cap.is_paid(1301 * kMs));
  EXPECT_FALSE(cap.is_exhausted(1000 * kMs));
}

TEST(ShareCap, ASlowLeakIsCollectedWithinTheShare) {
  for (const double share : {0.1, 0.5, 0.9}) {
    ShareCap cap(share);
    std::uint64_t now = 0;
    std::uint64_t collected = 0;
    while (now < 100'000 * kMs) {
      if (cap.is_paid(now)) {
        now += 50 * kMs;
        collected += 50 * kMs;
        cap.collected(50 * kMs, now);
      } else {
        now += kMs;
      }
    }
    EXPECT_NEAR(static_cast<double>(collected) / static_cast<double>(now), share, 0.02);
  }
}

TEST(ShareCap, ASecondBeyondTheShareExhaustsIt) {
  ShareCap cap(0.5);
  std::uint64_t now = 0;
  int collections = 0;
  // Ten milliseconds of program between collections of a hundred.
  for (; !cap.is_exhausted(now); ++collections) {
    ASSERT_LT(collections, 100);
    now += 110 * kMs;
    cap.collected(100 * kMs, now);
  }
  EXPECT_EQ(collections, 11);
  cap.forgive();
  EXPECT_FALSE(cap.is_exhausted(now));
  EXPECT_FALSE(cap.is_paid(now));
  // And a program that collects that seldom never comes there.
  ShareCap patient(0.5);
  for (int i = 0; i < 1000; ++i) {
    now += 201 * kMs;
    patient.collected(100 * kMs, now);
    ASSERT_FALSE(patient.is_exhausted(now));
  }
}

HeapOptions with_soft_limit(std::size_t bytes) {
  HeapOptions options = with_nursery(256 * kKiB);
  options.soft_limit_bytes = bytes;
  // Nothing but the limit starts a cycle, and time plays no part.
  options.growth_floor_bytes = std::size_t{1} << 40;
  options.limit_cpu_share = 0.99;
  options.step_budget_microseconds = 10'000'000;
  return options;
}

TEST(SoftLimit, CyclesKeepTheHeapBelowIt) {
  TestHeap test(with_soft_limit(32 * kMiB));
  Recorder recorder;
  test.heap.add_listener(recorder);
  const Local<Node> kept(test.mutator, make_list(test.mutator, 50'000));
  std::size_t most = 0;
  for (std::size_t round = 0; round < scaled(200); ++round) {
    const Local<Node> garbage(test.mutator, make_list(test.mutator, 20'000));
    const HeapStatistics now = test.heap.statistics();
    most = std::max(most, now.old_used + now.large_used);
  }
  test.heap.remove_listener(recorder);
  if (most > 30 * kMiB) {
    EXPECT_GE(recorder.fulls.size(), 1U);
  }
  EXPECT_LE(most, 34 * kMiB);
  EXPECT_EQ(check_list(kept), 50'000U);
  expect_sound(test.heap);
}

TEST(SoftLimit, WhatTheProgramAsksForIsNotCharged) {
  HeapOptions options = with_nursery(256 * kKiB);
  options.limit_cpu_share = 0.01;  // a charge would take a hundred times its own time to drain
  TestHeap test(options);
  const Local<Node> list(test.mutator, make_list(test.mutator, 20'000));
  test.heap.collect_minor();
  test.heap.collect();
  const ShareCap& cap = detail::HeapAccess::core(test.heap).share_cap();
  EXPECT_TRUE(cap.is_paid(platform::monotonic_ns()));
  test.heap.collect_minor();
  while (!test.heap.step(std::chrono::seconds(1)).cycle_ended) {
  }
  test.heap.trim();
  EXPECT_TRUE(cap.is_paid(platform::monotonic_ns()));
}

TEST(SoftLimit, AProgramThatNeedsMoreGetsMore) {
  TestHeap test(with_soft_limit(16 * kMiB));
  const std::size_t length = scaled(1'000'000);
  const Local<Node> list(test.mutator, make_list(test.mutator, length));
  EXPECT_EQ(check_list(list), length);
  if (length == 1'000'000) {
    EXPECT_GT(test.heap.statistics().old_used, 32 * kMiB);
    EXPECT_GT(test.heap.statistics().full_collections, 0U);
  }
  expect_sound(test.heap);
}

TEST(SoftLimit, TheErrorSaysWhenTheShareIsUsedUp) {
  OutOfMemory::Facts facts;
  facts.requested_bytes = 48;
  facts.hard_limit_bytes = 16 * kMiB;
  facts.share_exceeded = true;
  EXPECT_NE(std::string(OutOfMemory(facts).what()).find("limit_cpu_share"), std::string::npos);
  facts.share_exceeded = false;
  EXPECT_EQ(std::string(OutOfMemory(facts).what()).find("limit_cpu_share"), std::string::npos);
}

}  // namespace
}  // namespace fallow::test
