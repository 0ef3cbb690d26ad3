// The arithmetic of pacing, played through without a heap.
#include "heap/pacer.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace fallow::test {
namespace {

using detail::Pacer;

constexpr std::uint64_t kBudgetNs = 500'000;
constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Outcome {
  std::size_t steps = 0;
  std::size_t used = 0;
  std::uint64_t longest_ns = 0;
};

/// A cycle over `work` bytes at `ns_per_byte`, in a heap that grows by `growth` between two steps.
Outcome play(std::size_t work, double ns_per_byte, std::size_t growth, std::size_t goal) {
  Pacer pacer(kBudgetNs);
  Outcome outcome{.used = 100 * kMiB};
  pacer.begin(outcome.used, goal, work);
  for (std::size_t done = 0; done < work; ++outcome.steps) {
    outcome.used += growth;
    const std::uint64_t allowed = pacer.allowance(outcome.used, done);
    outcome.longest_ns = std::max(outcome.longest_ns, allowed);
    const auto units = static_cast<std::size_t>(static_cast<double>(allowed) / ns_per_byte);
    pacer.learn(units, allowed);
    done += units;
    if (outcome.steps > 1'000'000) break;
  }
  return outcome;
}

TEST(Pacer, EndsBeforeTheGoalWhenTheBudgetAllows) {
  for (const double speed : {0.2, 1.0, 4.0}) {
    for (const std::size_t growth : {kMiB / 16, kMiB / 4, kMiB / 2}) {
      const Outcome outcome = play(20 * kMiB, speed, growth, 200 * kMiB);
      EXPECT_LT(outcome.used, 200 * kMiB) << speed << " ns, growth " << growth;
      EXPECT_LE(outcome.longest_ns, kBudgetNs);
    }
  }
}

TEST(Pacer, SpreadsTheWorkOverTheRoom) {
  // Half the growth a step makes twice the steps: work follows allocation, not collections.
  const Outcome coarse = play(50 * kMiB, 1.0, kMiB, 400 * kMiB);
  const Outcome fine = play(50 * kMiB, 1.0, kMiB / 2, 400 * kMiB);
  EXPECT_NEAR(static_cast<double>(fine.steps), 2.0 * static_cast<double>(coarse.steps),
              0.1 * static_cast<double>(fine.steps));
  EXPECT_GT(coarse.used, 250 * kMiB) << "it need not be done that early";
}

TEST(Pacer, TheGoldenSchedule) {
  const Outcome outcome = play(40 * kMiB, 1.0, kMiB, 300 * kMiB);
  EXPECT_EQ(outcome.steps, 134U);
  EXPECT_EQ(outcome.used / kMiB, 234U);
}

TEST(Pacer, AHeapThatDoesNotGrowStillEndsItsCycle) {
  const Outcome outcome = play(10 * kMiB, 1.0, 0, 200 * kMiB);
  EXPECT_EQ(outcome.longest_ns, kBudgetNs / 10);
  EXPECT_LE(outcome.steps, 10 * kMiB / (kBudgetNs / 10) + 1);
}

TEST(Pacer, WhatTheBudgetDoesNotAllowIsOwed) {
  Pacer pacer(kBudgetNs);
  pacer.begin(100 * kMiB, 130 * kMiB, 100 * kMiB);
  EXPECT_EQ(pacer.allowance(100 * kMiB, 0), kBudgetNs / 10);
  EXPECT_EQ(pacer.owed(), 0U);
  // Half of the room to the aim: half of the work, at a nanosecond a byte.
  EXPECT_EQ(pacer.allowance(110 * kMiB, 0), kBudgetNs);
  EXPECT_EQ(pacer.owed(), 50 * kMiB - kBudgetNs);
  // Past the goal everything is.
  EXPECT_EQ(pacer.allowance(131 * kMiB, 20 * kMiB), kBudgetNs);
  EXPECT_EQ(pacer.owed(), 80 * kMiB - kBudgetNs);
  EXPECT_EQ(pacer.allowance(132 * kMiB, 100 * kMiB), kBudgetNs);
  EXPECT_EQ(pacer.owed(), 0U);
}

}  // namespace
}  // namespace fallow::test
