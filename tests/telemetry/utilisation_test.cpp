// Minimum mutator utilisation against one that looks at every window.
#include "telemetry/utilisation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fallow::telemetry {
namespace {

std::int64_t overlap(const TimeSpan& a, const TimeSpan& b) {
  return std::max<std::int64_t>(std::min(a.end_ns, b.end_ns) - std::max(a.begin_ns, b.begin_ns), 0);
}

// Spans have whole ends, so that no window between two whole beginnings is worse than both.
double brute_force(const std::vector<TimeSpan>& pauses, std::int64_t length, std::int64_t window) {
  std::int64_t most = 0;
  for (std::int64_t begin = 0; begin + window <= length; ++begin) {
    std::int64_t paused = 0;
    for (const TimeSpan& pause : pauses) paused += overlap(pause, {begin, begin + window});
    most = std::max(most, paused);
  }
  return static_cast<double>(window - most) / static_cast<double>(window);
}

TEST(Utilisation, OfKnownPauses) {
  const std::vector<TimeSpan> two = {{10, 12}, {20, 24}};
  EXPECT_EQ(minimum_utilisation(two, 100, 2), 0);
  EXPECT_EQ(minimum_utilisation(two, 100, 5), 0.2);
  EXPECT_EQ(minimum_utilisation(two, 100, 14), 8.0 / 14) << "both, exactly";
  EXPECT_EQ(minimum_utilisation(two, 100, 13), 8.0 / 13) << "from within the first one";
  EXPECT_EQ(minimum_utilisation(two, 100, 100), 0.94);
}

TEST(Utilisation, AWindowNoLongerThanAPauseIsLost) {
  EXPECT_EQ(minimum_utilisation({{5, 50}}, 100, 45), 0);
  EXPECT_EQ(minimum_utilisation({{5, 50}}, 100, 1), 0);
  EXPECT_EQ(minimum_utilisation({{0, 100}}, 100, 100), 0);
}

TEST(Utilisation, WithoutPausesTheProgramAlwaysRuns) {
  EXPECT_EQ(minimum_utilisation({}, 100, 10), 1);
  EXPECT_EQ(minimum_utilisation({{7, 7}}, 100, 10), 1);
}

TEST(Utilisation, WindowsStayWithinTheLog) {
  // A window that reached beyond either end would find a stretch without pauses there.
  EXPECT_EQ(minimum_utilisation({{0, 2}, {98, 100}}, 100, 100), 0.96);
  EXPECT_EQ(minimum_utilisation({{0, 2}, {98, 100}}, 100, 99), 96.0 / 99);
  EXPECT_EQ(minimum_utilisation({{90, 100}}, 100, 20), 0.5);
}

TEST(Utilisation, SpansThatTouchOrOverlapBecomeOne) {
  const std::vector<TimeSpan> merged = disjoint({{30, 40}, {0, 10}, {10, 12}, {5, 8}, {39, 45}});
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].begin_ns, 0);
  EXPECT_EQ(merged[0].end_ns, 12);
  EXPECT_EQ(merged[1].begin_ns, 30);
  EXPECT_EQ(merged[1].end_ns, 45);
  EXPECT_TRUE(disjoint({}).empty());
}

TEST(Utilisation, AgreesWithEveryWindowOfRandomPauses) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto up_to = [&random](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  for (int round = 0; round < 500; ++round) {
    const std::int64_t length = 1 + up_to(200);
    std::vector<TimeSpan> pauses;
    for (std::int64_t count = up_to(12); count > 0; --count) {
      const std::int64_t begin = up_to(length);
      pauses.push_back({begin, std::min(length, begin + up_to(round % 2 == 0 ? 10 : 80))});
    }
    pauses = disjoint(std::move(pauses));
    const std::int64_t window = 1 + up_to(length - 1);
    ASSERT_EQ(minimum_utilisation(pauses, length, window), brute_force(pauses, length, window))
        << "round " << round << ", window " << window << " of " << length;
  }
}

}  // namespace
}  // namespace fallow::telemetry
