// Intervals against the table they come from, and against the truth.
#include "profile/analysis/estimate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "platform/split_mix.h"

namespace fallow::profile {
namespace {

TEST(Estimate, FactorsOfAFewCounts) {
  struct Row {
    std::uint64_t samples;
    double low;
    double high;
  };
  const Row rows[] = {{0, 0, 3.67},      {1, 0.01, 5.56},    {2, 0.23, 7.22},  {5, 1.61, 11.67},
                      {10, 4.79, 18.39}, {100, 81.4, 121.6}, {1000, 939, 1064}};
  for (const Row& row : rows) {
    const Interval factors = poisson_factors(row.samples);
    EXPECT_NEAR(factors.low, row.low, row.samples < 100 ? 0.006 : 0.6) << row.samples;
    EXPECT_NEAR(factors.high, row.high, row.samples < 100 ? 0.006 : 0.6) << row.samples;
  }
}

TEST(Estimate, WhatIsNearlySureIsExact) {
  Tally tally;
  tally.add(1 << 20, 1 << 10, 1 << 20, 1);
  EXPECT_EQ(tally.interval().low, tally.interval().high);
  EXPECT_EQ(tally.relative_error(), 0);
  EXPECT_EQ(tally.uncertain_samples(), 0U);
  tally.add(16, 1 << 10, 1032, 64);
  EXPECT_LT(tally.interval().low, tally.bytes());
  EXPECT_GT(tally.interval().low, 1 << 20);
  EXPECT_GT(tally.variance(), 0);
}

TEST(Estimate, ADifferenceNeedsEvidence) {
  Tally none;
  Tally few;
  Tally many;
  for (int i = 0; i < 400; ++i) {
    if (i < 3) few.add(16, 1024, 1032, 64.5);
    many.add(16, 1024, 1032, 64.5);
  }
  EXPECT_FALSE(difference_interval(none, few, 1024, 1024).excludes_zero());
  EXPECT_FALSE(difference_interval(many, many, 1024, 1024).excludes_zero());
  EXPECT_GT(difference_interval(few, many, 1024, 1024).low, 0);
  EXPECT_LT(difference_interval(many, few, 1024, 1024).high, 0);
  // A side that was looked at through a coarser sieve may have missed more.
  EXPECT_FALSE(difference_interval(none, many, 1 << 20, 1024).excludes_zero());
}

// Sizes from a few bytes to more than the interval: the truth lies within in 93 of 100 cases.
TEST(Estimate, IntervalsHoldTheTruth) {
  platform::SplitMix64 random(20261201);
  int inside = 0;
  int cases = 0;
  for (const std::uint64_t bytes : {16, 64, 1000, 4096, 70'000}) {
    for (const std::uint64_t interval : {64, 1024, 65'536}) {
      for (int repeat = 0; repeat < 40; ++repeat) {
        Tally tally;
        const std::uint64_t objects = 4 + 50 * interval / bytes;
        const double p = inclusion_probability(bytes, interval);
        for (std::uint64_t i = 0; i < objects; ++i) {
          if (platform::unit_interval(random.next()) >= p) continue;
          tally.add(bytes, interval,
                    static_cast<std::uint64_t>(std::lround(static_cast<double>(bytes) / p)), 1 / p);
        }
        const auto truth = static_cast<double>(bytes * objects);
        const Interval range = tally.interval();
        // Rounding to whole bytes is half a byte for each sample.
        const auto slack = static_cast<double>(tally.samples());
        inside += range.low - slack <= truth && truth <= range.high + slack ? 1 : 0;
        ++cases;
      }
    }
  }
  EXPECT_GE(inside * 100, cases * 93) << inside << " of " << cases;
}

}  // namespace
}  // namespace fallow::profile
