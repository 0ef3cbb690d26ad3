// Survival, pauses, leaks and differences.
#include <gtest/gtest.h>

#include "profile/analysis/difference.h"
#include "profile/analysis/leaks.h"
#include "profile/analysis/pauses.h"
#include "profile/analysis/survival.h"
#include "tests/profile/profile_of.h"
#include "tests/profile/simulated_program.h"

namespace fallow::profile {
namespace {

using test::profile_of;
using test::RecordingBuilder;

TEST(Survival, MedianAgeCountsTheLivingAsLiving) {
  EXPECT_EQ(median_age({{10, 1, true}, {20, 1, true}, {30, 1, true}}), 20);
  // Watched for five only: nobody knows whether they would have died at ten.
  EXPECT_EQ(median_age({{5, 100, false}, {10, 1, true}, {20, 1, true}}), 10);
  EXPECT_EQ(median_age({{10, 1, true}, {50, 3, false}}), std::nullopt);
  EXPECT_EQ(median_age({}), std::nullopt);
}

TEST(Survival, TypesAndLayers) {
  RecordingBuilder builder;
  auto program = test::simulated_compiler();
  program.record({}, builder);
  const Profile profile = profile_of(builder);
  const auto rows = survival_of(profile);
  double sum = 0;
  for (const SurvivalRow& row : rows) {
    sum += row.bytes.allocated.bytes();
    if (profile.type_name(row.type) == "Diagnostic") {
      EXPECT_EQ(row.median_age_ns, std::nullopt);
    }
    if (profile.type_name(row.type) == "Token") {
      ASSERT_TRUE(row.median_age_ns.has_value());
      EXPECT_LT(*row.median_age_ns, 150'000'000);
    }
  }
  EXPECT_EQ(sum, total_of(profile).allocated.bytes());
  const Sediment sediment = sediment_of(profile, 10, 50);
  double alive = 0;
  for (const auto& layer : sediment.live_bytes) {
    alive += layer.back();
    for (const double bytes : layer) EXPECT_GE(bytes, 0);
  }
  EXPECT_EQ(alive, total_of(profile).live.bytes());
  // Nothing lies in a layer before its time.
  EXPECT_EQ(sediment.live_bytes[9][40], 0);
}

TEST(Pauses, SumsAndUtilisation) {
  RecordingBuilder builder;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    const auto kind = i == 10 ? PauseKind::kFull : PauseKind::kMinor;
    builder.pause(static_cast<std::int64_t>(i) * 100'000'000, {kind, i * 1'000'000, i, 10, 5});
  }
  builder.end(2'000'000'000, EndReason::kExit);
  const Profile profile = profile_of(builder);
  const PauseSummary summary = pauses_of(profile.recording, 3);
  ASSERT_EQ(summary.rows.size(), 2U);
  EXPECT_EQ(summary.rows[0].count, 9U);
  EXPECT_EQ(summary.rows[0].max_ns, 9'000'000U);
  EXPECT_EQ(summary.rows[0].total_ns, 45'000'000U);
  EXPECT_EQ(summary.rows[0].p50_ns, 5'000'000U);
  ASSERT_EQ(summary.longest.size(), 3U);
  EXPECT_EQ(profile.recording.pauses[summary.longest[0]].wall_ns, 10'000'000U);
  ASSERT_EQ(summary.utilisation.size(), 10U);
  EXPECT_EQ(summary.utilisation[3].window_ms, 10U);
  EXPECT_DOUBLE_EQ(summary.utilisation[3].part, 0);
  EXPECT_DOUBLE_EQ(summary.utilisation[4].part, 0.5);
  EXPECT_NEAR(summary.utilisation[9].part, 1 - 0.055, 1e-9);
}

TEST(Leaks, FindsWhatGrowsAndNothingElse) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    RecordingBuilder builder;
    test::SimulatedProgram program({
        {"Leak", {"main", "leaks"}, 128, 1, 1, 0},
        {"Cache", {"main", "turns over"}, 128, 5, 0.5, 0.3},
        {"Short", {"main", "dies"}, 64, 40, 0.001, 0.1},
    });
    program.record({.seed = seed, .interval_bytes = 8192}, builder);
    const Profile profile = profile_of(builder);
    const std::vector<Leak> leaks = leaks_of(profile);
    ASSERT_EQ(leaks.size(), 1U) << "seed " << seed;
    EXPECT_EQ(profile.type_name(leaks[0].site.type), "Leak");
    const double truth = program.truth()[0].allocated / 2;
    EXPECT_LE(leaks[0].growth_range.low, truth * 1.05);
    EXPECT_GE(leaks[0].growth_range.high, truth * 0.95);
    EXPECT_NEAR(leaks[0].bytes_per_second, leaks[0].growth_bytes / 5, leaks[0].growth_bytes * 0.01);
  }
}

Profile recorded(std::uint64_t seed, double leak_share) {
  RecordingBuilder builder;
  test::SimulatedProgram program({{"Steady", {"main", "steady"}, 128, 10, 0.5, 1},
                                  {"Growing", {"main", "growing"}, 128, leak_share, 1, 0},
                                  {"Rare", {"main", "rare"}, 128, 0.01, 1, 0}});
  program.record({.seed = seed, .interval_bytes = 16'384}, builder);
  return profile_of(builder);
}

TEST(Difference, CallsOnlyWhatIsBeyondNoiseAChange) {
  int false_alarms = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Difference same =
        difference_of(recorded(seed, 1), recorded(seed + 100, 1), CompareBy::kAllocated);
    for (const Change& change : same.sites) false_alarms += change.significant() ? 1 : 0;
  }
  EXPECT_LE(false_alarms, 8) << "of 60";
  const Profile before = recorded(1, 1);
  const Profile after = recorded(2, 4);
  const Difference grown = difference_of(before, after, CompareBy::kLive);
  ASSERT_FALSE(grown.sites.empty());
  EXPECT_TRUE(grown.sites[0].significant());
  EXPECT_EQ(grown.sites[0].type, "Growing");
  EXPECT_GT(grown.total.range.low, 0);
  EXPECT_EQ(grown.total.after.bytes(), total_of(after).live.bytes());
}

}  // namespace
}  // namespace fallow::profile
