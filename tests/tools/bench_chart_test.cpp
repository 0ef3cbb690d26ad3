// The pictures of benchmarks are well-formed documents that show their values.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/svg_chart.h"
#include "tools/well_formed.h"

namespace fallow::bench {
namespace {

using test::expect_well_formed;
using test::occurrences;

std::string as_number(double x) { return std::to_string(static_cast<int>(x)); }

LineChart small_chart() {
  return {"speed < size", "size", as_number, {{"a & b, s", {{256, 2}, {512, 1}, {1024, 4}}}}};
}

TEST(BenchChart, IsWellFormed) {
  const std::string svg = as_svg(small_chart());
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  expect_well_formed(svg);
}

TEST(BenchChart, ShowsTitlesTicksPointsAndScale) {
  const std::string svg = as_svg(small_chart());
  for (const char* const text : {">speed &lt; size<", ">size<", ">256<", ">512<", ">1024<",
                                 ">100 %<", ">a &amp; b, s; 100 % = 4<"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(occurrences(svg, "h0"), 3U);
  EXPECT_EQ(occurrences(svg, "<polyline "), 1U);
}

TEST(BenchChart, LeavesOutWhatIsNoNumber) {
  LineChart chart = small_chart();
  chart.series[0].points[1].second = NAN;
  const std::string svg = as_svg(chart);
  expect_well_formed(svg);
  EXPECT_EQ(occurrences(svg, "h0"), 2U);
}

TEST(BenchChart, DrawsOnePointAndNone) {
  LineChart chart = small_chart();
  chart.series[0].points.resize(1);
  expect_well_formed(as_svg(chart));
  chart.series[0].points.clear();
  expect_well_formed(as_svg(chart));
  chart.series.clear();
  expect_well_formed(as_svg(chart));
}

TEST(BenchChart, OfNurserySizesShowsThem) {
  std::vector<Measured> rows;
  for (const double kib : {256.0, 512.0, 1024.0}) {
    const auto same = [](const char* name, double value) {
      return Measured::Figure{name, value, value, value};
    };
    rows.push_back({"row",
                    {same("nursery_kib", kib), same("cpu_s", 100 / kib), same("gib_per_s", 30),
                     same("peak_rss_mib", kib / 10)}});
  }
  const std::string svg = nursery_as_svg(rows);
  expect_well_formed(svg);
  EXPECT_NE(svg.find(">512 KiB<"), std::string::npos);
}

std::vector<Measured> rows_of_servers() {
  std::vector<Measured> rows;
  for (const char* const name : {"default", "steps"}) {
    const Measured::Figure figure{"latency_max_us", 1234, 1234, 1234};
    rows.push_back({name, {figure}, {{"latency", {{0, 0.1}, {1, 2}}}, {"heap", {{0, 100}}}}});
  }
  return rows;
}

TEST(BenchChart, OfServersShowsLatenciesAndHeaps) {
  const std::string svg = server_as_svg(rows_of_servers());
  expect_well_formed(svg);
  for (const char* const text :
       {">latency of an event, ms<", ">0.1<", ">objects in the old space, MiB<",
        ">time since the first event, s<",
        ">steps: the event loop collects while it waits; at most 2 ms<",
        ">steps; at most 100 MiB<"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(occurrences(svg, "<polyline "), 4U);
  expect_well_formed(server_as_svg({{"default", {}}}));
  expect_well_formed(server_as_svg({}));
}

TEST(BenchChart, OfServersStandsOnAPageWithTheMedians) {
  const std::string page = server_as_html(rows_of_servers());
  const std::string kFirstLine = "<!DOCTYPE html>\n";
  ASSERT_TRUE(page.starts_with(kFirstLine));
  expect_well_formed(page.substr(kFirstLine.size()));
  EXPECT_NE(page.find(server_as_svg(rows_of_servers())), std::string::npos);
  EXPECT_NE(page.find("<td>latency_max_us</td><td>1234</td>"), std::string::npos);
  for (const char* const outside : {"src=", "href=", "url(", "@import"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

}  // namespace
}  // namespace fallow::bench
