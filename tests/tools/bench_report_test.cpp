// Summaries of runs, and the two forms in which they are shown.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/callgrind.h"
#include "bench/report.h"
#include "bench/runner.h"

namespace fallow::bench {
namespace {

Measured measured_speed() {
  return summarize("subject/variant", {{{"wall_s", 3}}, {{"wall_s", 1}}, {{"wall_s", 2}}});
}

TEST(BenchReport, MedianOfAnOddNumberOfRunsIsTheMiddleOne) {
  const Measured row = measured_speed();
  EXPECT_EQ(row.name, "subject/variant");
  ASSERT_EQ(row.figures.size(), 1U);
  EXPECT_EQ(row.figures[0].median, 2);
  EXPECT_EQ(row.figures[0].minimum, 1);
  EXPECT_EQ(row.figures[0].maximum, 3);
}

TEST(BenchReport, MedianOfAnEvenNumberOfRunsLiesBetweenTheMiddleTwo) {
  const Measured row = summarize("row", {{{"a", 4}}, {{"a", 100}}, {{"a", 1}}, {{"a", 2}}});
  EXPECT_EQ(row.value("a"), 3);
}

TEST(BenchReport, OneRunIsItsOwnMedianMinimumAndMaximum) {
  const Measured row = summarize("row", {{{"a", 7}}});
  EXPECT_EQ(row.figures[0].median, 7);
  EXPECT_EQ(row.figures[0].minimum, 7);
  EXPECT_EQ(row.figures[0].maximum, 7);
}

TEST(BenchReport, AMetricThatSomeRunsLackIsSummarizedOverTheOthers) {
  const Measured row = summarize("row", {{{"a", 1}}, {{"b", 5}, {"a", 3}}, {}});
  EXPECT_EQ(row.value("a"), 2);
  EXPECT_EQ(row.value("b"), 5);
  EXPECT_TRUE(std::isnan(row.value("c")));
}

TEST(BenchReport, JsonHasTheDocumentedShape) {
  const auto json = nlohmann::json::parse(as_json("alloc", {measured_speed()}));
  EXPECT_EQ(json.size(), 3U);
  EXPECT_EQ(json["bench"], "alloc");
  for (const char* const fact :
       {"processor", "cpus", "caches", "memory", "kernel", "compiler", "fallow", "load", "date"}) {
    EXPECT_TRUE(json["machine"][fact].is_string()) << fact;
  }
  ASSERT_EQ(json["rows"].size(), 1U);
  const nlohmann::json expected = {
      {"name", "subject/variant"}, {"wall_s", 2.0}, {"wall_s_min", 1.0}, {"wall_s_max", 3.0}};
  EXPECT_EQ(json["rows"][0], expected);
}

TEST(BenchReport, JsonOfNoRowsIsAnEmptyList) {
  const auto json = nlohmann::json::parse(as_json("alloc", {}));
  EXPECT_TRUE(json["rows"].is_array());
  EXPECT_TRUE(json["rows"].empty());
}

TEST(BenchReport, TableAlignsColumnsAndMarksWhatARowLacks) {
  const Measured other = summarize("other", {{{"peak_rss_mib", 12.34}}});
  EXPECT_EQ(as_table({measured_speed(), other}),
            "row              wall_s            peak_rss_mib\n"
            "subject/variant  2.00 (1.00–3.00)  -\n"
            "other            -                 12.3\n");
}

TEST(BenchReport, CallgrindsCountIsFoundInItsOutput) {
  EXPECT_EQ(collected_instructions("==17== Collected : 2345678\n"), 2345678U);
  EXPECT_EQ(collected_instructions("==17== Events    : Ir\n"), 0U);
  EXPECT_EQ(collected_instructions(""), 0U);
}

}  // namespace
}  // namespace fallow::bench
