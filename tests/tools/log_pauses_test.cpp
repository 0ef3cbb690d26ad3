// Which sections of a log are pauses of the program, and what of memory it says.
#include "tools/fallow/log_pauses.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tools/fallow/log_report.h"
#include "tools/fallow/log_summary.h"

namespace fallow::tool {
namespace {

using Kind = LogCollection::Kind;

// A tick is a microsecond, stamps are hexadecimal.
LogSummary summary_of(const std::string& text) {
  std::istringstream log(text);
  return summarize_log(log, 1e6);
}

void expect_pause(const LogPause& pause, Kind kind, std::int64_t begin_us, std::int64_t end_us) {
  EXPECT_EQ(pause.kind, kind);
  EXPECT_EQ(pause.span.begin_ns, begin_us * 1000);
  EXPECT_EQ(pause.span.end_ns, end_us * 1000);
}

std::string section(const std::string& name, unsigned begin, unsigned end,
                    const std::string& lines = "") {
  std::ostringstream text;
  text << std::hex << '[' << begin << "] {" << name << '\n'
       << lines << '[' << end << "] " << name << "}\n";
  return text.str();
}

TEST(LogPauses, AreSectionsOfTheCollectorAndNoneWithin) {
  const LogSummary summary =
      summary_of(section("gc-clock", 0, 5) +
                 section("gc-minor", 100, 150, section("gc-minor-walkroots", 110, 120)) +
                 section("jit-tracing", 300, 900, section("gc-minor", 400, 420)) +
                 section("gc-minor", 1000, 1100, section("gc-collect-step", 1010, 1050)) +
                 section("gc-collect", 2000, 2500, section("gc-minor", 2001, 2002)));
  ASSERT_EQ(summary.pauses.size(), 4U);
  expect_pause(summary.pauses[0], Kind::kMinor, 100, 150);
  expect_pause(summary.pauses[1], Kind::kMinor, 400, 420);
  expect_pause(summary.pauses[2], Kind::kMinor, 1000, 1100);
  expect_pause(summary.pauses[3], Kind::kFull, 2000, 2500);
  EXPECT_EQ(pauses_in_words(summary), "4 pauses: 3 minor, 1 full");
}

TEST(LogPauses, AStepRightBehindAnotherSectionIsOnePauseWithIt) {
  const LogSummary summary =
      summary_of(section("gc-clock", 0, 5) + section("gc-minor", 100, 150) +
                 section("gc-collect-step", 250, 700) + section("gc-collect-step", 801, 900) +
                 section("gc-minor", 901, 910));
  ASSERT_EQ(summary.pauses.size(), 3U);
  expect_pause(summary.pauses[0], Kind::kStep, 100, 700);
  expect_pause(summary.pauses[1], Kind::kStep, 801, 900);
  expect_pause(summary.pauses[2], Kind::kMinor, 901, 910);
}

TEST(LogPauses, StepsThatAreAWholeCollectionTogetherAreAFullOne) {
  const std::string done = section("gc-collect-done", 410, 420);
  const LogSummary summary = summary_of(
      section("gc-clock", 0, 5) + section("gc-minor", 100, 150) +
      section("gc-collect-step", 160, 200) + section("gc-collect-step", 210, 400) +
      section("gc-collect-step", 405, 430, done) + section("gc-minor", 10000, 10010) +
      section("gc-collect-step", 10020, 10030) +
      section("gc-collect-step", 10040, 10060, section("gc-collect-done", 10050, 10051)));
  ASSERT_EQ(summary.pauses.size(), 2U);
  expect_pause(summary.pauses[0], Kind::kFull, 100, 430);
  expect_pause(summary.pauses[1], Kind::kStep, 10000, 10060);
}

TEST(LogPauses, OutOfOrderAreSorted) {
  const LogSummary summary =
      summary_of(section("gc-minor", 500, 600) + section("gc-minor", 50, 60));
  ASSERT_EQ(summary.pauses.size(), 2U);
  expect_pause(summary.pauses[0], Kind::kMinor, 0, 10);
  expect_pause(summary.pauses[1], Kind::kMinor, 450, 550);
  EXPECT_DOUBLE_EQ(summary.span_s, 550e-6);
}

TEST(LogPauses, GiveTheUtilisationOfWindowsThatFitIntoTheLog) {
  const LogSummary summary =
      summary_of(section("gc-clock", 0, 5) + section("gc-minor", 1000, 2500) +
                 section("gc-minor", 3000, 3500) + section("end", 10000, 10000));
  ASSERT_EQ(summary.utilisation.size(), 4U);
  EXPECT_EQ(summary.utilisation[0].window_ms, 1U);
  EXPECT_EQ(summary.utilisation[0].part, 0);
  EXPECT_EQ(summary.utilisation[1].part, 0.25);
  EXPECT_EQ(summary.utilisation[2].part, 0.6);
  EXPECT_EQ(summary.utilisation[3].window_ms, 10U);
  EXPECT_EQ(summary.utilisation[3].part, 0.8);
  EXPECT_EQ(windows_left_out_in_words(summary),
            "left out, since the log is shorter: 20, 50, 100, 200, 500, 1000 ms");
  EXPECT_NE(log_as_table(summary, false).find("MMU, %          0.00   25.00   60.00   80.00\n"),
            std::string::npos)
      << log_as_table(summary, false);
}

TEST(LogPauses, ALogWithoutAnyPromisesNothing) {
  const LogSummary summary = summary_of(section("gc-clock", 0, 100000));
  EXPECT_TRUE(summary.pauses.empty());
  EXPECT_TRUE(summary.utilisation.empty());
  EXPECT_TRUE(summary.windows_left_out_ms.empty());
  EXPECT_NE(log_as_table(summary, false).find("no pauses"), std::string::npos);
}

TEST(LogPauses, StampsThatNoTimeIsBehindDoNotHurt) {
  const std::string log =
      "[0] {gc-minor\n[ffffffffffffffff] gc-minor}\n[1] {gc-collect-step\n"
      "[fffffffffffffffe] gc-collect-step}\n";
  std::istringstream slow(log);
  EXPECT_EQ(summarize_log(slow, 1).pauses.size(), 1U);
  EXPECT_EQ(summary_of(log).utilisation.back().part, 0);
}

TEST(LogMemory, IsReadFromTheLinesOfCollections) {
  const LogSummary summary =
      summary_of(section("gc-minor", 100, 150, "minor collect, total memory used: 4096\n") +
                 section("gc-collect-step", 200, 300,
                         section("gc-collect-done", 250, 260,
                                 "arenas:                6  =>  2\nbytes used in arenas:  1000\n"
                                 "bytes raw-malloced:    5000  =>  24\n"
                                 "next major collection threshold:  8192.000000\n")));
  ASSERT_EQ(summary.used.size(), 2U);
  EXPECT_EQ(summary.used[0].bytes, 4096);
  EXPECT_DOUBLE_EQ(summary.used[0].at_s, 0);
  EXPECT_EQ(summary.used[1].bytes, 1024);
  EXPECT_DOUBLE_EQ(summary.used[1].at_s, 150e-6);
  ASSERT_EQ(summary.thresholds.size(), 1U);
  EXPECT_EQ(summary.thresholds[0].bytes, 8192);
}

TEST(LogMemory, WhatIsNoNumberIsLeftOut) {
  for (const char* const number : {"", " ", " x", " nan", " inf", " -5", " 1e999", " =>", " => "}) {
    const std::string line = std::string("minor collect, total memory used:") + number + "\n";
    EXPECT_TRUE(summary_of(section("gc-minor", 1, 2, line)).used.empty()) << line;
  }
  EXPECT_TRUE(summary_of("minor collect, total memory used: 1\n[1] {a\n[2] a}\n").used.empty());
}

}  // namespace
}  // namespace fallow::tool
