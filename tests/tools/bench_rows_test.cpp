// The rows of every benchmark: their names, and that each does its work. No test judges a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/gcbench.h"
#include "bench/isolated_run.h"
#include "bench/pair_tree.h"

namespace fallow::bench {
namespace {

std::vector<Row> rows_of(std::string_view benchmark, std::uint64_t n) {
  Options options;
  options.n = n;
  for (const Benchmark& each : benchmarks()) {
    if (each.name == benchmark) return each.rows(options);
  }
  ADD_FAILURE() << "no benchmark " << benchmark;
  return {};
}

std::set<std::string> names_of(std::string_view benchmark) {
  std::set<std::string> names;
  for (const Row& row : rows_of(benchmark, 1)) names.insert(row.name);
  return names;
}

double value_of(const Metrics& metrics, const std::string& name) {
  for (const auto& [metric, value] : metrics) {
    if (metric == name) return value;
  }
  return NAN;
}

void expect_metrics(const Row& row, const std::vector<std::string>& expected) {
  const Metrics metrics = run_isolated(row);
  for (const std::string& name : expected) {
    EXPECT_GE(value_of(metrics, name), 0) << row.name << " " << name;
  }
}

void expect_names(std::string_view benchmark, const std::vector<std::string>& expected) {
  const std::set<std::string> names = names_of(benchmark);
  for (const std::string& name : expected) EXPECT_TRUE(names.contains(name)) << name;
}

TEST(BenchRows, NamesAreUniqueAndHaveAtMostOneVariant) {
  for (const Benchmark& benchmark : benchmarks()) {
    const std::vector<Row> rows = rows_of(benchmark.name, 1);
    EXPECT_EQ(names_of(benchmark.name).size(), rows.size()) << benchmark.name;
    for (const Row& row : rows) {
      EXPECT_LE(std::count(row.name.begin(), row.name.end(), '/'), 1) << row.name;
    }
  }
}

TEST(BenchRows, AreThoseThatAreDocumented) {
  expect_names("alloc", {"roofline/noinit", "roofline/init", "live/noinit", "live/init",
                         "local/noinit", "local/init", "cursor/noinit", "cursor/init", "malloc"});
  expect_names("gcbench", {"live", "local", "malloc"});
  expect_names("minor",
               {"fallow/zero", "fallow/zero-explicit", "fallow/survival-100-recycled",
                "fallow/survival-100-fresh", "fallow/remembered-1", "fallow/remembered-1000000"});
  expect_names("barrier", {"fallow/fresh-into-old-1", "fallow/fresh-into-old-1000",
                           "fallow/fresh-into-old-1000000", "fallow/old-into-old",
                           "fallow/array-copy", "fallow/array-fill"});
  expect_names("roots", {"live", "local", "frame", "provider", "global"});
  expect_names("threads", {"fallow/1", "fallow/2", "fallow/4", "roofline/1", "roofline/2"});
  expect_names("nursery", {"fallow/256 KiB", "fallow/64 MiB"});
  expect_names("tree-rss", {"fallow"});
  expect_names("ring", {"fallow", "malloc"});
  expect_names("rss", {"blocks/262144", "blocks/65536", "blocks/4096", "blocks/512",
                       "nodes/1-in-10", "nodes/1-in-200", "nodes/none"});
  expect_names("lives", {"finalizers/young", "finalizers/endless", "weak/garbage",
                         "ephemerons/chain", "ephemerons/tenth", "ledger/handles", "hash"});
  expect_names("server", {"idle-heap", "default", "pause-target", "steps", "stop-the-world"});
}

TEST(BenchRows, AllocAllocatesWithEverySubject) {
  for (const Row& row : rows_of("alloc", 1000)) {
    expect_metrics(row, {"ns_per_object", "gib_per_s", "wall_s", "cpu_s"});
    ASSERT_NE(row.work, nullptr) << row.name;
    row.work(0);
    row.work(10);
  }
}

TEST(BenchRows, MinorCopiesWhatItSays) {
  for (const Row& row : rows_of("minor", 1)) {
    const Metrics metrics = run_isolated(row);
    EXPECT_GE(value_of(metrics, "us_per_collection"), 0) << row.name;
    constexpr std::string_view kSurvival = "fallow/survival-";
    if (!row.name.starts_with(kSurvival) || row.name == "fallow/survival-0-recycled") continue;
    const double percent = std::stod(row.name.substr(kSurvival.size()));
    EXPECT_NEAR(value_of(metrics, "survival_percent"), percent, 2) << row.name;
    EXPECT_GT(value_of(metrics, "gb_per_s_copied"), 0) << row.name;
  }
}

TEST(BenchRows, BarrierStores) {
  for (const Row& row : rows_of("barrier", 1000)) {
    // Takes seconds in a checked build, with any n.
    if (row.name == "fallow/array-store-10000000") continue;
    expect_metrics(row, {"ns_per_store", "wall_s", "cpu_s"});
  }
}

TEST(BenchRows, RootsBuildsTreesOfTheGivenDepth) {
  for (const Row& row : rows_of("roots", 3)) expect_metrics(row, {"ns_per_node", "wall_s"});
}

TEST(BenchRows, SeveralMutatorsReportHowLongTheyTakeToStop) {
  for (const Row& row : rows_of("threads", 1'000'000)) {
    expect_metrics(row, {"threads", "scaling", "objects_per_us", "wall_s", "cpu_s"});
    if (row.name.starts_with("roofline")) continue;
    expect_metrics(row, {"stop_p50_us", "stop_p99_us", "stop_max_us", "minor_collections"});
  }
}

TEST(BenchRows, RingTimesEveryPush) {
  for (const Row& row : rows_of("ring", 1000)) {
    expect_metrics(row, {"p50_us", "p99_us", "p999_us", "p9999_us", "max_us", "wall_s", "cpu_s",
                         "peak_rss_mib", "high_water_ratio"});
    if (row.name == "fallow") expect_metrics(row, {"max_us_cpu"});
  }
}

TEST(BenchRows, RssLeavesGarbageBehind) {
  for (const Row& row : rows_of("rss", 1)) {
    expect_metrics(row, {"rss_peak_mib", "rss_after_mib", "rss_trimmed_mib", "mappings"});
  }
}

TEST(BenchRows, LivesEndAsTheyShould) {
  for (const Row& row : rows_of("lives", 1000)) {
    const Metrics metrics = run_isolated(row);
    if (row.name == "weak/garbage") {
      EXPECT_EQ(value_of(metrics, "cleared"), 1000);
    } else if (row.name == "ledger/handles") {
      EXPECT_LE(value_of(metrics, "peak_mib"), 256);
    } else if (row.name == "hash") {
      EXPECT_EQ(value_of(metrics, "changed"), 0);
    }
  }
}

TEST(BenchRows, SizesAreLimited) {
  EXPECT_THROW(rows_of("rss", 1001), BadOption);
  EXPECT_THROW(rows_of("server", (1 << 20) + 1), BadOption);
}

TEST(BenchRows, ServerCollectsInEveryModeAndRecordsSeries) {
  setenv("FALLOW_NURSERY", "256K", 1);
  setenv("FALLOW_GROWTH_FLOOR", "1M", 1);
  for (const Row& row : rows_of("server", 1)) {
    std::vector<Series> series;
    const Metrics metrics = run_isolated(row, &series);
    for (const char* const name : {"latency_p50_us", "latency_p99_us", "latency_p999_us",
                                   "latency_max_us", "action_max_us_cpu", "heap_mib"}) {
      EXPECT_GT(value_of(metrics, name), 0) << row.name << " " << name;
    }
    EXPECT_GE(value_of(metrics, "pause_max_us_cpu"), 0) << row.name;
    EXPECT_GE(value_of(metrics, "cycles"), row.name == "idle-heap" ? 0 : 1) << row.name;
    ASSERT_EQ(series.size(), 2U) << row.name;
    EXPECT_EQ(series[0].points.size(), 100U) << row.name;
    EXPECT_GT(series[1].points.size(), 10U) << row.name;
  }
  unsetenv("FALLOW_NURSERY");
  unsetenv("FALLOW_GROWTH_FLOOR");
}

TEST(BenchRows, DepthOfATreeIsLimited) {
  Options options;
  EXPECT_EQ(requested_depth(options, 7), 7);
  options.n = 30;
  EXPECT_EQ(requested_depth(options, 7), 30);
  options.n = 31;
  EXPECT_THROW(requested_depth(options, 7), BadOption);
  EXPECT_EQ(pair_tree_nodes(0), 1U);
  EXPECT_EQ(pair_tree_nodes(22), 8'388'607U);
}

TEST(BenchRows, DeviceMeasuresEveryStrategyAndSeveralThreads) {
  expect_names("device", {"segregated/1", "segregated/2", "segregated/4", "segregated/8", "first/1",
                          "best/1", "segregated/occupancy"});
  for (const Row& row : rows_of("device", 2000)) {
    if (row.name.ends_with("/occupancy")) {
      EXPECT_GE(value_of(run_isolated(row), "occupancy_percent"), 97) << row.name;
    } else if (row.name.ends_with("/1")) {
      expect_metrics(row, {"ns_per_op", "p50_ns", "p99_ns"});
    } else {
      expect_metrics(row, {"ns_per_op", "cpu_ns_per_op"});
    }
  }
}

// The figures that Boehm's program prints.
TEST(BenchRows, GcbenchHasTheOriginalsIterations) {
  const std::vector<int> expected = {33824, 8256, 2052, 512, 128, 32, 8};
  std::vector<int> actual;
  for (int depth = gcbench::kMinDepth; depth <= gcbench::kMaxDepth; depth += 2) {
    actual.push_back(gcbench::iterations(depth));
  }
  EXPECT_EQ(actual, expected);
}

}  // namespace
}  // namespace fallow::bench
