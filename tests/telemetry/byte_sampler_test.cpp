// Gaps are geometric: whatever depends on that (unbiased weights, gaps that may be dropped) is
// tested here by the distribution itself. Seeds are fixed, so nothing here is left to chance.
#include "telemetry/byte_sampler.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace fallow::telemetry {
namespace {

TEST(ByteSampler, GapsPassChiSquare) {
  constexpr std::size_t kInterval = 1000;
  constexpr std::size_t kDraws = 200'000;
  constexpr std::size_t kBuckets = 50;
  // Of equal probability each, as far as whole bytes allow.
  std::array<double, kBuckets> expected{};
  std::array<std::uint64_t, kBuckets> ends{};
  double before = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const double share = static_cast<double>(i + 1) / kBuckets;
    ends[i] = i + 1 == kBuckets ? ByteSampler::kForever
                                : static_cast<std::uint64_t>(-std::log(1 - share) * kInterval);
    const double below =
        i + 1 == kBuckets ? 1 : 1 - std::exp(-static_cast<double>(ends[i]) / kInterval);
    expected[i] = (below - before) * kDraws;
    before = below;
  }
  ByteSampler sampler(1, kInterval);
  std::array<double, kBuckets> seen{};
  for (std::size_t i = 0; i < kDraws; ++i) {
    const std::uint64_t gap = sampler.next_gap();
    ASSERT_GE(gap, 1U);
    std::size_t bucket = 0;
    while (gap > ends[bucket]) ++bucket;
    ++seen[bucket];
  }
  double chi_square = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    chi_square += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
  }
  // 49 degrees of freedom: 85.4 is exceeded by one sequence in a thousand.
  EXPECT_LT(chi_square, 85.4);
}

TEST(ByteSampler, ObjectsNearTheIntervalAreChosenAsOftenAsTheyShould) {
  ByteSampler sampler(2, 10'000);
  int chosen = 0;
  for (int i = 0; i < 100'000; ++i) chosen += sampler.chooses(11'000) ? 1 : 0;
  // 1 − exp(−1.1) = 0.667; four standard deviations are 0.006.
  EXPECT_NEAR(chosen / 100'000.0, 1 - std::exp(-1.1), 0.006);
}

TEST(ByteSampler, AnIntervalOfOneChoosesMostBytesAndEveryLargerObject) {
  ByteSampler sampler(3, 1);
  int chosen = 0;
  for (int i = 0; i < 10'000; ++i) {
    chosen += sampler.chooses(1) ? 1 : 0;
    EXPECT_TRUE(sampler.chooses(64));
  }
  EXPECT_NEAR(chosen / 10'000.0, 1 - std::exp(-1.0), 0.02);
}

TEST(ByteSampler, WithoutAnIntervalNothingIsEverChosen) {
  ByteSampler sampler(4);
  EXPECT_FALSE(sampler.is_active());
  EXPECT_EQ(sampler.next_gap(), ByteSampler::kForever);
  EXPECT_FALSE(sampler.chooses(std::size_t{1} << 61));
}

TEST(ByteSampler, HugeIntervalsGiveGapsThatCanBeAddedToAnyAddress) {
  ByteSampler sampler(5, std::size_t{1} << 63);
  for (int i = 0; i < 1000; ++i) EXPECT_LE(sampler.next_gap(), ByteSampler::kForever);
}

TEST(ByteSampler, SequencesDependOnTheSeedAlone) {
  ByteSampler first(6, 512);
  ByteSampler second(6, 512);
  ByteSampler other(7, 512);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t gap = first.next_gap();
    EXPECT_EQ(gap, second.next_gap());
    differs = differs || gap != other.next_gap();
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace fallow::telemetry
