#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/fallow/measurement.h"
#include "tools/fallow/progress.h"
#include "tools/fallow/report.h"
#include "tools/fallow/units.h"
#include "tools/generated_texts.h"

namespace fallow::tool {
namespace {

TEST(DemoUnits, Counts) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(1, "file", "files"), "1 file");
  EXPECT_EQ(format_count(0, "file", "files"), "0 files");
}

TEST(DemoUnits, Durations) {
  EXPECT_EQ(format_seconds(0), "0 ns");
  EXPECT_EQ(format_seconds(12e-9), "12 ns");
  EXPECT_EQ(format_seconds(1.5e-6), "1.50 µs");
  EXPECT_EQ(format_seconds(45.64e-3), "45.6 ms");
  EXPECT_EQ(format_seconds(0.7891), "789 ms");
  EXPECT_EQ(format_seconds(0.99996), "1.00 s");
  EXPECT_EQ(format_seconds(1234.4), "1234 s");
  EXPECT_EQ(format_nanoseconds(9'996), "10.0 µs");
}

TEST(DemoUnits, Rates) {
  EXPECT_EQ(format_rate(std::uint64_t{3} << 20, 2), "1.5 MiB/s");
  EXPECT_EQ(format_rate(0, 1), "–");
  EXPECT_EQ(format_rate(1, 0), "–");
}

TEST(DemoProgress, Bar) {
  EXPECT_EQ(progress_bar(0, 10), "[" + std::string(30, '-') + "]   0 %");
  EXPECT_EQ(progress_bar(5, 10), "[" + std::string(15, '#') + std::string(15, '-') + "]  50 %");
  EXPECT_EQ(progress_bar(10, 10), "[" + std::string(30, '#') + "] 100 %");
  EXPECT_EQ(progress_bar(20, 10), progress_bar(10, 10));
  EXPECT_EQ(progress_bar(0, 0), progress_bar(10, 10));
}

std::vector<Round> rounds_taking(const std::vector<double>& seconds) {
  std::vector<Round> rounds(seconds.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) rounds[i].managed.build.wall_s = seconds[i];
  return rounds;
}

TEST(DemoReport, MedianAndExtremes) {
  const std::vector<Round> rounds = rounds_taking({3, 1, 2});
  const Spread spread =
      spread_of(rounds, [](const Round& round) { return round.managed.build.wall_s; });
  EXPECT_EQ(spread.median, 2);
  EXPECT_EQ(spread.min, 1);
  EXPECT_EQ(spread.max, 3);
  EXPECT_EQ(&median_round(rounds), &rounds[2]);
  EXPECT_EQ(median_round(rounds_taking({5})).managed.build.wall_s, 5);
}

class DemoMeasurement : public ::testing::Test {
 protected:
  Measurement measure_texts(std::uint32_t rounds) {
    MeasurementOptions options;
    options.heap.nursery_bytes = std::size_t{32} << 10;
    options.rounds = rounds;
    options.verify = true;
    Progress progress;
    return measure(texts_, options, progress);
  }

  TextFiles texts_ = generate_texts(10, 500, 2000);
  std::vector<std::string> directories_ = {"somewhere"};
};

TEST_F(DemoMeasurement, MeasuresEachRound) {
  const Measurement result = measure_texts(3);
  ASSERT_EQ(result.rounds.size(), 3U);
  for (const Round& round : result.rounds) {
    EXPECT_GT(round.managed.build.wall_s, 0);
    EXPECT_GT(round.standard.build.wall_s, 0);
    EXPECT_GT(round.heap.allocated, 0U);
    EXPECT_GT(round.heap.minor_collections, 0U);
  }
  EXPECT_EQ(result.words, 5000U);
  EXPECT_TRUE(result.comparison.identical());
  EXPECT_EQ(result.comparison.words, 3 * result.distinct_words);
  EXPECT_TRUE(result.verified);
  EXPECT_GT(result.verification.objects, result.distinct_words);
}

TEST_F(DemoMeasurement, TheTextNamesWhatMatters) {
  const Measurement result = measure_texts(2);
  const std::string report = report_as_text({directories_, texts_, result});
  for (const char* const part :
       {"somewhere", "10 files", "5,000", "build, wall time", "build, CPU time", "minor", "p99",
        "one after the other", "2 rounds", "Both agree on", "The heap is in order"}) {
    EXPECT_NE(report.find(part), std::string::npos) << part << " in\n" << report;
  }
}

TEST_F(DemoMeasurement, TheTextShowsDifferencesAndDamage) {
  Measurement result = measure_texts(1);
  result.comparison.add_difference("an apple is a pear");
  result.verification.complaints.emplace_back("a slot is bent");
  const std::string report = report_as_text({directories_, texts_, result});
  EXPECT_NE(report.find("DIFFER in 1 place:\n    an apple is a pear"), std::string::npos);
  EXPECT_NE(report.find("DAMAGED:\n    a slot is bent"), std::string::npos);
  EXPECT_EQ(report.find("Both agree"), std::string::npos);
}

TEST_F(DemoMeasurement, TheJsonHoldsTheSame) {
  const Measurement result = measure_texts(2);
  const auto json = nlohmann::json::parse(report_as_json({directories_, texts_, result}));
  EXPECT_EQ(json["directories"][0], "somewhere");
  EXPECT_EQ(json["corpus"]["files"], 10);
  EXPECT_EQ(json["corpus"]["words"], 5000);
  EXPECT_EQ(json["rounds"], 2);
  EXPECT_GT(json["fallow"]["build_wall_s"], 0);
  EXPECT_LE(json["standard"]["build_cpu_s_min"], json["standard"]["build_cpu_s_max"]);
  EXPECT_GT(json["fallow"]["heap"]["minor_pauses_wall"]["max_us"], 0);
  EXPECT_EQ(json["questions"][0]["items"].size(), 20U);
  EXPECT_EQ(json["comparison"]["identical"], true);
  EXPECT_EQ(json["verification"]["complaints"].size(), 0U);
}

TEST_F(DemoMeasurement, PathsThatAreNotUtf8DoNotBreakTheJson) {
  texts_.files[0].path = "caf\xE9";
  directories_ = {"na\xEFve"};
  const Measurement result = measure_texts(1);
  EXPECT_TRUE(nlohmann::json::accept(report_as_json({directories_, texts_, result})));
}

}  // namespace
}  // namespace fallow::tool
