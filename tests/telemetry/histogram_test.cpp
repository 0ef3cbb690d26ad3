#include "telemetry/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace fallow::telemetry {
namespace {

TEST(PauseHistogram, EmptyIsZero) {
  const PauseHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min_ns(), 0u);
  EXPECT_EQ(histogram.max_ns(), 0u);
  EXPECT_EQ(histogram.percentile(0.5), 0u);
  EXPECT_EQ(histogram.snapshot().mean_ns(), 0);
}

TEST(PauseHistogram, BucketsTileTheWholeRange) {
  EXPECT_EQ(PauseHistogram::bucket_first(0), 0u);
  for (size_t i = 0; i < PauseHistogram::kBuckets; ++i) {
    const uint64_t first = PauseHistogram::bucket_first(i);
    const uint64_t last = PauseHistogram::bucket_last(i);
    ASSERT_LE(first, last);
    ASSERT_EQ(PauseHistogram::bucket_of(first), i);
    ASSERT_EQ(PauseHistogram::bucket_of(last), i);
    ASSERT_LE(last - first, first / 32) << "relative error";
    if (i + 1 < PauseHistogram::kBuckets) {
      ASSERT_EQ(PauseHistogram::bucket_first(i + 1), last + 1);
    } else {
      ASSERT_EQ(last, UINT64_MAX);
    }
  }
}

TEST(PauseHistogram, OneValue) {
  PauseHistogram histogram;
  histogram.record(123456789);
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.total_ns(), 123456789u);
  EXPECT_EQ(histogram.min_ns(), 123456789u);
  EXPECT_EQ(histogram.max_ns(), 123456789u);
  for (const double q : {0.0, 0.001, 0.5, 1.0, -1.0, 2.0}) {
    EXPECT_EQ(histogram.percentile(q), 123456789u);
  }
}

TEST(PauseHistogram, ExtremeValuesAndSaturation) {
  PauseHistogram histogram;
  histogram.record(UINT64_MAX);
  EXPECT_EQ(histogram.min_ns(), UINT64_MAX);
  histogram.record(0);
  histogram.record(UINT64_MAX);
  EXPECT_EQ(histogram.total_ns(), UINT64_MAX);
  EXPECT_EQ(histogram.min_ns(), 0u);
  EXPECT_EQ(histogram.percentile(0.3), 0u);
  EXPECT_EQ(histogram.percentile(0.9), UINT64_MAX);
}

TEST(PauseHistogram, PercentilesAreWithinOneThirtySecond) {
  std::mt19937_64 random(20240229);
  std::lognormal_distribution<double> pauses(11, 2);
  PauseHistogram histogram;
  std::vector<uint64_t> values;
  for (int i = 0; i < 20000; ++i) {
    values.push_back(static_cast<uint64_t>(pauses(random)));
    histogram.record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999}) {
    const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size())));
    const auto exact = static_cast<double>(values[rank - 1]);
    const auto told = static_cast<double>(histogram.percentile(q));
    EXPECT_GE(told, exact) << q;
    EXPECT_LE(told, exact * (1 + 1.0 / 32)) << q;
  }
  EXPECT_EQ(histogram.percentile(0), values.front());
  EXPECT_EQ(histogram.percentile(1), values.back());
}

TEST(PauseHistogram, MergeAddsUp) {
  PauseHistogram a, b, both;
  for (uint64_t i = 1; i < 3000; i += 7) {
    (i % 2 == 0 ? a : b).record(i * i);
    both.record(i * i);
  }
  a.merge(b);
  a.merge(PauseHistogram());  // nothing
  const auto merged = a.snapshot(), expected = both.snapshot();
  EXPECT_EQ(merged.buckets, expected.buckets);
  EXPECT_EQ(merged.count, expected.count);
  EXPECT_EQ(merged.total_ns, expected.total_ns);
  EXPECT_EQ(merged.min_ns, expected.min_ns);
  EXPECT_EQ(merged.max_ns, expected.max_ns);
  EXPECT_DOUBLE_EQ(merged.mean_ns(), expected.mean_ns());
  EXPECT_EQ(a.count(), both.count());
}

TEST(PauseHistogram, ClearForgetsEverything) {
  PauseHistogram histogram;
  histogram.record(5);
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min_ns(), 0u);
  histogram.record(9);
  EXPECT_EQ(histogram.min_ns(), 9u);
  EXPECT_EQ(histogram.max_ns(), 9u);
}

TEST(PauseHistogram, ReadersMayLookWhileItIsWritten) {
  const auto histogram = std::make_unique<PauseHistogram>();
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (uint64_t i = 0; i < 200000; ++i) histogram->record(1000 + i % 5000);
    done.store(true);
  });
  uint64_t last_count = 0;
  while (!done.load()) {
    const auto seen = histogram->snapshot();
    ASSERT_GE(seen.count, last_count);
    last_count = seen.count;
    if (seen.count == 0) continue;
    ASSERT_GE(seen.min_ns, 1000u);
    ASSERT_GE(seen.percentile(0.5), 1000u);
    ASSERT_LE(seen.percentile(0.99), 6000u);
  }
  writer.join();
  EXPECT_EQ(histogram->snapshot().count, 200000u);
}

}  // namespace
}  // namespace fallow::telemetry
