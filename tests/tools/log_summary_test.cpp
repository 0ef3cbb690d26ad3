// Logs as they are written, as PyPy writes them, cut off and damaged.
#include "tools/fallow/log_summary.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace fallow::tool {
namespace {

LogSummary summary_of(const std::string& text, std::optional<double> ticks = std::nullopt) {
  std::istringstream log(text);
  return summarize_log(log, ticks);
}

std::string problem_of(const std::string& text) {
  try {
    summary_of(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

const std::string kClock =
    "[10] {gc-clock\nticks per second: 1000000\nclock: tsc\n[11] gc-clock}\n";

TEST(LogSummary, NestedSectionsCountForThemselvesAndForTheOuterOnes) {
  const LogSummary summary = summary_of(kClock +
                                        "[100] {gc-minor\n[110] {gc-minor-walkroots\n"
                                        "[120] gc-minor-walkroots}\nminor collect: 5\n"
                                        "[140] gc-minor}\n[200] {gc-minor\n[210] gc-minor}\n");
  ASSERT_EQ(summary.sections.size(), 3U);
  const LogSectionSummary& minor = summary.sections[0];
  EXPECT_EQ(minor.name, "gc-minor");
  EXPECT_EQ(minor.count, 2U);
  EXPECT_DOUBLE_EQ(minor.total_s, 80e-6);
  EXPECT_DOUBLE_EQ(minor.p50_us, 16);
  EXPECT_DOUBLE_EQ(minor.p90_us, 64);
  EXPECT_DOUBLE_EQ(minor.max_us, 64);
  EXPECT_EQ(summary.sections[1].name, "gc-minor-walkroots");
  EXPECT_DOUBLE_EQ(summary.sections[1].total_s, 16e-6);
  EXPECT_DOUBLE_EQ(summary.span_s, 512e-6);
  EXPECT_EQ(summary.unfinished, 0U);
  EXPECT_EQ(summary.damaged_lines, 0U);
}

TEST(LogSummary, HistogramsHaveNoGapsAndHoldEverySection) {
  const LogSummary summary =
      summary_of(kClock + "[100] {a\n[103] a}\n[200] {a\n[203] a}\n[300] {a\n[320] a}\n");
  const std::vector<LogBucket>& buckets = summary.sections[0].histogram;
  ASSERT_EQ(buckets.size(), 5U);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    EXPECT_DOUBLE_EQ(buckets[i].from_us, 2.0 * static_cast<double>(1U << i));
    EXPECT_DOUBLE_EQ(buckets[i].to_us, 2 * buckets[i].from_us);
    count += buckets[i].count;
  }
  EXPECT_EQ(buckets[0].count, 2U);
  EXPECT_EQ(buckets[4].count, 1U);
  EXPECT_EQ(count, 3U);
}

TEST(LogSummary, ShorterThanAMicrosecondIsTheFirstBucket) {
  const LogSummary summary = summary_of("[5] {a\n[5] a}\n", 1e9);
  ASSERT_EQ(summary.sections[0].histogram.size(), 1U);
  EXPECT_DOUBLE_EQ(summary.sections[0].histogram[0].from_us, 0);
  EXPECT_DOUBLE_EQ(summary.sections[0].histogram[0].to_us, 1);
}

TEST(LogSummary, LogsOfPyPyNeedTheLengthOfATick) {
  const std::string log = "[1a2b] {gc-minor\n[1a8f] gc-minor}\n";
  EXPECT_NE(problem_of(log).find("--ticks-per-second"), std::string::npos);
  EXPECT_DOUBLE_EQ(summary_of(log, 1e8).sections[0].total_s, 1e-6);
}

TEST(LogSummary, WhatIsNoLogIsRefused) {
  for (const char* const text : {"", "\n", "[1] a}\n", "[zz] {a\n", "{a\na}\n", "[1] {\n[2] }\n"}) {
    EXPECT_NE(problem_of(text).find("no section"), std::string::npos) << text;
  }
}

TEST(LogSummary, ALogThatWasCutOffLosesOnlyItsEnd) {
  const std::string whole = kClock + "[100] {a\n[110] {b\n[120] b}\n[130] a}\n[140] {a\n[150] a}\n";
  for (std::size_t length = kClock.size(); length <= whole.size(); ++length) {
    const LogSummary summary = summary_of(whole.substr(0, length));
    std::uint64_t count = summary.unfinished;
    for (const LogSectionSummary& section : summary.sections) count += section.count;
    EXPECT_GE(count, 1U);
    EXPECT_LE(count, 4U);
    EXPECT_EQ(summary.damaged_lines, 0U) << length;
  }
}

TEST(LogSummary, DamagedLinesAreCountedAndTheRestIsKept) {
  const LogSummary summary = summary_of(
      kClock + "[100] {a\r\n[108] {lost\n[110] a}\r\n[120] never-begun}\n[200] {a\n[190] a}\n");
  EXPECT_EQ(summary.damaged_lines, 2U) << "an end without a beginning, an end before its beginning";
  EXPECT_EQ(summary.unfinished, 2U) << "one within a section, one at the end";
  ASSERT_EQ(summary.sections[0].name, "a");
  EXPECT_EQ(summary.sections[0].count, 1U);
}

}  // namespace
}  // namespace fallow::tool
