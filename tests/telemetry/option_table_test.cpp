#include "telemetry/option_table.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <string>

namespace fallow::telemetry {
namespace {

using Kind = OptionRow::Kind;

constexpr double kAny = OptionRow::kUnbounded;
constexpr std::array<OptionRow, 6> kRows = {{
    {"nursery_bytes", "FALLOW_TEST_NURSERY", Kind::kBytes, 65536, 1073741824,
     "(from the cache sizes)", "Size of the nursery."},
    {"threads", "FALLOW_TEST_THREADS", Kind::kCount, 1, kAny, "2", "Helper threads."},
    {"verify", "FALLOW_TEST_VERIFY", Kind::kFlag, 0, 1, "off", "Verify a|b."},
    {"growth", "FALLOW_TEST_GROWTH", Kind::kRatio, 1.0, 10, "1.4", "Growth factor."},
    {"label", nullptr, Kind::kText, 0, 8, "main", "Name of the heap."},
    {"step_us", "FALLOW_TEST_STEP", Kind::kMicroseconds, 10, 1e6, "500", "Length of a step."},
}};

const OptionRow& row(std::string_view name) { return *find_option(kRows, name); }

OptionValue value_of(std::string_view name, std::string_view text) {
  const ParsedOption parsed = parse_option(row(name), text);
  EXPECT_TRUE(parsed) << parsed.error;
  EXPECT_EQ(parsed.error, "");
  return parsed.value.value_or(OptionValue{});
}

std::string error_of(std::string_view name, std::string_view text) {
  const ParsedOption parsed = parse_option(row(name), text);
  EXPECT_FALSE(parsed) << name << " " << text;
  return parsed.error;
}

TEST(OptionTable, ParsesEveryKind) {
  EXPECT_EQ(value_of("nursery_bytes", "4M").number, 4194304u);
  EXPECT_EQ(value_of("nursery_bytes", " 64 KiB ").number, 65536u);
  EXPECT_EQ(value_of("threads", "18446744073709551615").number, UINT64_MAX);
  for (const char* text : {"1", "true", "YES", "On"}) EXPECT_TRUE(value_of("verify", text).flag);
  for (const char* text : {"0", "False", "no", "OFF"}) EXPECT_FALSE(value_of("verify", text).flag);
  EXPECT_DOUBLE_EQ(value_of("growth", "1.82").ratio, 1.82);
  EXPECT_EQ(value_of("label", " a b ").text, "a b");
  EXPECT_EQ(value_of("label", "").text, "");
  EXPECT_EQ(value_of("step_us", "250").number, 250u);
  EXPECT_EQ(value_of("step_us", "250us").number, 250u);
  EXPECT_EQ(value_of("step_us", "3 ms").number, 3000u);
  EXPECT_EQ(value_of("step_us", "1s").number, 1000000u);
}

TEST(OptionTable, BoundsAreInclusive) {
  EXPECT_EQ(value_of("nursery_bytes", "65536").number, 65536u);
  EXPECT_EQ(value_of("nursery_bytes", "1G").number, 1073741824u);
  EXPECT_EQ(error_of("nursery_bytes", "65535"),
            "FALLOW_TEST_NURSERY='65535': too small; permitted: 64 KiB to 1 GiB");
  EXPECT_EQ(error_of("nursery_bytes", "1073741825"),
            "FALLOW_TEST_NURSERY='1073741825': too large; permitted: 64 KiB to 1 GiB");
  EXPECT_EQ(error_of("threads", "0"), "FALLOW_TEST_THREADS='0': too small; permitted: at least 1");
  EXPECT_EQ(error_of("label", "123456789"),
            "label='123456789': too long; permitted: 0 characters to 8 characters");
  EXPECT_EQ(error_of("growth", "0.99"), "FALLOW_TEST_GROWTH='0.99': too small; permitted: 1 to 10");
  EXPECT_EQ(error_of("step_us", "2s"),
            "FALLOW_TEST_STEP='2s': too large; permitted: 10 µs to 1000000 µs");
}

TEST(OptionTable, MalformedValuesNameVariableValueAndRange) {
  EXPECT_EQ(error_of("nursery_bytes", "4Q"),
            "FALLOW_TEST_NURSERY='4Q': unknown unit 'Q' (use B, K, M, G or T, as in 512K or "
            "1.5GiB); permitted: 64 KiB to 1 GiB");
  EXPECT_EQ(error_of("threads", "two"),
            "FALLOW_TEST_THREADS='two': not a whole number; permitted: at least 1");
  EXPECT_EQ(error_of("verify", "maybe"),
            "FALLOW_TEST_VERIFY='maybe': not a switch; permitted: 1, true, yes, on or 0, false, "
            "no, off");
  for (const char* text : {"", "-1", "+1", "1.5", "1x", "18446744073709551616"}) {
    EXPECT_NE(error_of("threads", text), "");
    EXPECT_NE(error_of("step_us", text), "");
  }
  for (const char* text : {"", "nan", "inf", "-inf", "1,5", "2x", "1e999"}) {
    EXPECT_NE(error_of("growth", text), "");
  }
  EXPECT_NE(error_of("step_us", "18446744073709551615s"), "");
  EXPECT_LT(error_of("threads", std::string(10000, 'z')).size(), 300u);
}

TEST(OptionTable, ReadsTheEnvironment) {
  unsetenv("FALLOW_TEST_THREADS");
  ParsedOption parsed = option_from_environment(row("threads"));
  EXPECT_FALSE(parsed);
  EXPECT_EQ(parsed.error, "");
  setenv("FALLOW_TEST_THREADS", "", 1);
  EXPECT_EQ(option_from_environment(row("threads")).error, "");
  setenv("FALLOW_TEST_THREADS", "8", 1);
  parsed = option_from_environment(row("threads"));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed.value->number, 8u);
  setenv("FALLOW_TEST_THREADS", "-8", 1);
  EXPECT_NE(option_from_environment(row("threads")).error, "");
  unsetenv("FALLOW_TEST_THREADS");
  EXPECT_FALSE(option_from_environment(row("label")));
}

TEST(OptionTable, Defaults) {
  EXPECT_FALSE(default_value(row("nursery_bytes")).has_value());
  EXPECT_EQ(default_value(row("threads"))->number, 2u);
  EXPECT_FALSE(default_value(row("verify"))->flag);
}

TEST(OptionTable, FindsByNameAndVariable) {
  EXPECT_EQ(find_option(kRows, "FALLOW_TEST_GROWTH"), &row("growth"));
  EXPECT_EQ(find_option(kRows, "missing"), nullptr);
}

TEST(OptionTable, CheckFindsMistakes) {
  EXPECT_EQ(check_option_table(kRows), "");
  const auto broken = [](auto change) {
    auto rows = kRows;
    change(rows);
    return check_option_table(rows);
  };
  EXPECT_NE(broken([](auto& rows) { rows[3].name = "threads"; }), "");
  EXPECT_NE(broken([](auto& rows) { rows[3].environment = "FALLOW_TEST_THREADS"; }), "");
  EXPECT_NE(broken([](auto& rows) { rows[3].name = ""; }), "");
  EXPECT_NE(broken([](auto& rows) { rows[3].minimum = 11; }), "");
  EXPECT_NE(broken([](auto& rows) { rows[3].default_text = "99"; }), "");
  EXPECT_NE(broken([](auto& rows) { rows[3].help = ""; }), "");
}

TEST(OptionTable, Markdown) {
  const std::string text = options_as_markdown(kRows);
  EXPECT_EQ(text.substr(0, text.find("| `threads`")),
            "| option | environment variable | kind | default | permitted | meaning |\n"
            "|---|---|---|---|---|---|\n"
            "| `nursery_bytes` | `FALLOW_TEST_NURSERY` | bytes | (from the cache sizes) | "
            "64 KiB to 1 GiB | Size of the nursery. |\n");
  EXPECT_NE(text.find("| `label` | – | text | main | 0 characters to 8 characters |"),
            std::string::npos);
  EXPECT_NE(text.find("Verify a\\|b."), std::string::npos);
}

TEST(OptionTable, PlainText) {
  const std::string text = options_as_text(std::span(kRows).subspan(1, 1));
  EXPECT_EQ(text,
            "threads  FALLOW_TEST_THREADS  [default: 2; at least 1]\n"
            "    Helper threads.\n");
}

TEST(OptionTable, UnboundedRangesInWords) {
  const auto range = [](Kind kind) {
    return describe_range({"x", nullptr, kind, kind == Kind::kRatio ? -kAny : 0, kAny, "", "h"});
  };
  EXPECT_EQ(range(Kind::kBytes), "any amount of memory");
  EXPECT_EQ(range(Kind::kCount), "any whole number");
  EXPECT_EQ(range(Kind::kRatio), "any number");
  EXPECT_EQ(range(Kind::kText), "any text");
  EXPECT_EQ(range(Kind::kMicroseconds), "any number of µs");
}

}  // namespace
}  // namespace fallow::telemetry
