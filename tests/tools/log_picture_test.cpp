// The picture and the page of a log are well-formed and show what they should, be the log empty,
// short, long or damaged.
#include "tools/fallow/log_picture.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tools/fallow/log_page.h"
#include "tools/well_formed.h"

namespace fallow::tool {
namespace {

using test::expect_well_formed;
using test::occurrences;

LogSummary summary_of(const std::string& text) {
  std::istringstream log(text);
  return summarize_log(log, 1e6);
}

std::string minor(unsigned begin, unsigned end, unsigned bytes) {
  std::ostringstream text;
  text << std::hex << '[' << begin << "] {gc-minor\nminor collect, total memory used: " << std::dec
       << bytes << std::hex << "\n[" << end << "] gc-minor}\n";
  return text.str();
}

std::string full(unsigned begin, unsigned end) {
  std::ostringstream text;
  text << std::hex << '[' << begin << "] {gc-collect\n[" << begin << "] {gc-collect-done\n"
       << "next major collection threshold:  9000000.000000\n"
       << '[' << begin << "] gc-collect-done}\n[" << end << "] gc-collect}\n";
  return text.str();
}

void expect_page_well_formed(const std::string& html) {
  const std::string kFirstLine = "<!DOCTYPE html>\n";
  ASSERT_TRUE(html.starts_with(kFirstLine));
  expect_well_formed(html.substr(kFirstLine.size()));
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* const part : parts) EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(LogPicture, ShowsPausesAndMemoryWithUnits) {
  const LogSummary summary =
      summary_of(minor(0, 40, 5U << 20) + minor(1000, 1030, 6U << 20) + full(2000000, 2300000));
  const std::string svg = log_as_svg("folder/gc <1>.log", summary);
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  expect_well_formed(svg);
  expect_parts(svg, {">gc &lt;1&gt;.log: 3 pauses in 2.30 s<",
                     ">time since the start of the log, s<", ">length of the pause, µs<", ">1,000<",
                     ">minor: 2 pauses, longest 40.0 µs", ">full: 1 pause, longest 300 ms<",
                     ">memory used, MiB<", ">used after a collection, at most 6 MiB<",
                     ">where the next full collection is to start<"});
  EXPECT_EQ(occurrences(svg, "step of a full"), 0U) << "there is none";
}

TEST(LogPicture, IsLinearWhereAllPausesAreOfOneOrder) {
  const std::string svg = log_as_svg("-", summary_of(minor(0, 40, 1) + minor(1000, 1060, 2)));
  expect_well_formed(svg);
  expect_parts(svg, {">standard input: 2 pauses in 1.06 ms<", ">0<", ">40<", ">60<", ", ms<"});
}

TEST(LogPicture, OfLittleOrNothingIsAPicture) {
  for (const std::string& log :
       {std::string("[1] {a\n[1] a}\n"), std::string("[1] {gc-minor\n"), minor(5, 5, 0),
        minor(5, 6, 7), full(1, 1), std::string("[0] {gc-minor\n[ffffffffffffffff] gc-minor}\n"),
        std::string("[0] {gc-minor\nminor collect, total memory used: 1e300\n[1] gc-minor}\n")}) {
    SCOPED_TRACE(log);
    expect_well_formed(log_as_svg("gc.log", summary_of(log)));
    expect_page_well_formed(log_as_html("gc.log", summary_of(log)));
  }
}

TEST(LogPicture, OfManyPausesStaysSmallAndKeepsTheLongest) {
  std::string log;
  for (unsigned i = 0; i < 50000; ++i) log += minor(i * 100, i * 100 + 5 + i % 7, i % 100);
  log += minor(5000000, 5000777, 1);
  const std::string svg = log_as_svg("gc.log", summary_of(log));
  expect_well_formed(svg);
  EXPECT_LT(svg.size(), 100000U);
  EXPECT_LE(occurrences(svg, "h0"), 652U);
  expect_parts(svg, {"50,001 pauses, longest 777 µs; per pixel column"});
}

TEST(LogPicture, TheLineOfMemoryLeavesACrowdedColumnWhereItEnds) {
  // 3, 1, 9 and 5 bytes within a column, then nothing until the end.
  const std::string svg =
      log_as_svg("gc.log", summary_of(minor(0, 1, 3) + minor(2, 3, 1) + minor(4, 5, 9) +
                                      minor(6, 7, 5) + minor(1000000, 1000001, 5)));
  const std::size_t line = svg.find("<polyline points=\"");
  ASSERT_NE(line, std::string::npos);
  const std::string points = svg.substr(line, svg.find('>', line) - line);
  EXPECT_EQ(occurrences(points, ","), 5U) << points;
}

TEST(LogPage, HoldsThePictureTheTablesAndTheHistograms) {
  const LogSummary summary = summary_of(minor(0, 40, 1) + minor(30000, 30300, 2) + "[1] {lost\n");
  const std::string html = log_as_html("gc.log", summary);
  expect_page_well_formed(html);
  expect_parts(
      html, {"<title>gc.log: 2 pauses in 30.3 ms</title>", "<svg ", "<th>p99, µs</th>",
             "<td>gc-minor</td><td>2</td><td>0.340</td>", "<td>MMU, %</td><td>70.00</td>",
             "left out, since the log is shorter: 50, 100, 200, 500, 1000 ms", "<h3>gc-minor</h3>",
             "<td>32 – 64 µs</td><td>1</td>", "1 sections have no end"});
  for (const char* const outside : {"src=", "href=", "url(", "<script", "@import"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
}

TEST(LogPage, NamesOfDamagedSectionsStayText) {
  const std::string html =
      log_as_html("gc.log", summary_of("[1] {<b>\xFF&\x01\n[2] <b>\xFF&\x01}\n"));
  expect_page_well_formed(html);
  expect_parts(html, {"<td>&lt;b&gt;\xEF\xBF\xBD&amp;\xEF\xBF\xBD</td>"});
}

}  // namespace
}  // namespace fallow::tool
