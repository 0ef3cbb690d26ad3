// The parts of a picture: axes and their ticks, what is seen of many points, text as XML permits
// it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/pixel_columns.h"
#include "bench/plot_axis.h"
#include "bench/svg_panels.h"
#include "bench/xml_text.h"

namespace fallow::bench {
namespace {

std::vector<std::string> labels_of(const Axis& axis) {
  std::vector<std::string> labels;
  for (const auto& [value, label] : axis.ticks) {
    EXPECT_GE(axis.part(value), 0);
    EXPECT_LE(axis.part(value), 1 + 1e-9);
    labels.push_back(label);
  }
  return labels;
}

using Labels = std::vector<std::string>;

TEST(BenchPlot, LinearAxesHaveRoundTicks) {
  EXPECT_EQ(labels_of(linear_axis("", 8, false)),
            (Labels{"0", "1", "2", "3", "4", "5", "6", "7", "8"}));
  EXPECT_EQ(labels_of(linear_axis("", 0.31, false)),
            (Labels{"0.00", "0.05", "0.10", "0.15", "0.20", "0.25", "0.30"}));
  EXPECT_EQ(labels_of(linear_axis("", 2900, true)),
            (Labels{"0", "500", "1,000", "1,500", "2,000", "2,500", "3,000"}));
  EXPECT_DOUBLE_EQ(linear_axis("", 2900, true).last, 3000);
  EXPECT_DOUBLE_EQ(linear_axis("", 2900, false).last, 2900);
  EXPECT_EQ(linear_axis("", 0, false).last, 1);
}

TEST(BenchPlot, DecimalAxesHaveThePowersOfTen) {
  EXPECT_EQ(
      labels_of(decimal_axis("", 0.5, 2e6)),
      (Labels{"0.1", "1", "10", "100", "1,000", "10,000", "100,000", "1,000,000", "10,000,000"}));
  EXPECT_EQ(labels_of(decimal_axis("", 10, 700)),
            (Labels{"10", "20", "50", "100", "200", "500", "1,000"}));
  EXPECT_DOUBLE_EQ(decimal_axis("", 3, 3).first, 1);
  EXPECT_DOUBLE_EQ(decimal_axis("", 3, 3).last, 10);
  EXPECT_DOUBLE_EQ(decimal_axis("", 1, 100).part(10), 0.5);
  EXPECT_EQ(decimal_axis("", 1, 100).part(0), 0);
}

TEST(BenchPlot, AxesOfValuesAreLinearWithinOneOrderOfMagnitude) {
  const auto axis_of = [](const Points& points) {
    return value_axis("", {{.legend = "", .points = points}});
  };
  EXPECT_FALSE(axis_of({{0, 2}, {1, 19}}).logarithmic);
  EXPECT_TRUE(axis_of({{0, 2}, {1, 21}}).logarithmic);
  EXPECT_DOUBLE_EQ(axis_of({{0, 0.3}, {1, 0}, {2, 700}, {3, NAN}, {4, INFINITY}}).first, 0.1);
  EXPECT_FALSE(axis_of({}).logarithmic);
  EXPECT_FALSE(value_axis("", {}).logarithmic);
}

TEST(BenchPlot, ColumnsOfPixelsKeepWhatIsSeen) {
  const Axis x = linear_axis("", kPanelWidth, false);
  const Points points = {{0.1, 5}, {0.3, 9}, {0.5, 1}, {0.7, 4}, {0.9, 6}, {1, 3}, {7.5, 2}};
  EXPECT_EQ(highest_of_columns(points, x), (Points{{0.3, 9}, {1, 3}, {7.5, 2}}));
  EXPECT_EQ(outline_of_columns(points, x),
            (Points{{0.1, 5}, {0.3, 9}, {0.5, 1}, {0.9, 6}, {1, 3}, {7.5, 2}}));
  EXPECT_TRUE(highest_of_columns({}, x).empty());
  EXPECT_EQ(outline_of_columns({{NAN, 1}, {1, 2}}, x).back(), (Points::value_type{1, 2}));
}

TEST(BenchPlot, TextIsWhatXmlPermits) {
  EXPECT_EQ(xml_text("a < b && c > d"), "a &lt; b &amp;&amp; c &gt; d");
  const std::string valid = "é – € 😀\t\n";
  EXPECT_EQ(xml_text(valid), valid);
  const std::string replacement = "\xEF\xBF\xBD";
  for (const char* const bad :
       {"\x01", "\x1B", "\x80", "\xC1", "\xE2\x82", "\xF8", "\xED", "\xF0"}) {
    const std::string safe = xml_text(std::string("a") + bad + "z");
    EXPECT_TRUE(safe.starts_with("a" + replacement)) << safe;
    EXPECT_TRUE(safe.ends_with("z")) << safe;
  }
  // A NUL, half of a pair, what is beyond Unicode, an overlong slash, a character that is none.
  for (const std::string& bad :
       {std::string(1, '\0'), std::string("\xED\xA0\x80"), std::string("\xF4\x90\x80\x80"),
        std::string("\xE0\x80\xAF"), std::string("\xEF\xBF\xBF")}) {
    EXPECT_TRUE(xml_text(bad).starts_with(replacement));
    EXPECT_EQ(xml_text(bad).find(bad), std::string::npos);
  }
}

}  // namespace
}  // namespace fallow::bench
