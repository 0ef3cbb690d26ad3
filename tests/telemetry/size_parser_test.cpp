#include "telemetry/size_parser.h"

#include <gtest/gtest.h>

#include <string>

namespace fallow::telemetry {
namespace {

constexpr uint64_t kKiB = 1024, kMiB = kKiB * 1024, kGiB = kMiB * 1024, kTiB = kGiB * 1024;

uint64_t bytes_of(std::string_view text) {
  const ParsedSize parsed = parse_size(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.error;
  EXPECT_EQ(parsed.error, "");
  return parsed.bytes.value_or(UINT64_MAX);
}

std::string error_of(std::string_view text) {
  const ParsedSize parsed = parse_size(text);
  EXPECT_FALSE(parsed) << text;
  return parsed.error;
}

TEST(ParseSize, UnitsInEverySpelling) {
  EXPECT_EQ(bytes_of("270336"), 270336u);
  EXPECT_EQ(bytes_of("0"), 0u);
  EXPECT_EQ(bytes_of("12B"), 12u);
  EXPECT_EQ(bytes_of("12b"), 12u);
  for (const char* text : {"4M", "4m", "4MB", "4mb", "4MiB", "4mib", "4 M", " 4M ", "4\tMB", "4.M",
                           "4.0M", "4096K", "4194304"}) {
    EXPECT_EQ(bytes_of(text), 4 * kMiB) << text;
  }
  EXPECT_EQ(bytes_of("512K"), 512 * kKiB);
  EXPECT_EQ(bytes_of("3G"), 3 * kGiB);
  EXPECT_EQ(bytes_of("2TiB"), 2 * kTiB);
}

TEST(ParseSize, FractionsAreExactAndCutToBytes) {
  EXPECT_EQ(bytes_of("1.5GiB"), kGiB + kGiB / 2);
  EXPECT_EQ(bytes_of("1.5K"), 1536u);
  EXPECT_EQ(bytes_of(".5K"), 512u);
  EXPECT_EQ(bytes_of("0.001K"), 1u);
  EXPECT_EQ(bytes_of("1.9"), 1u);
  EXPECT_EQ(bytes_of("0.1T"), kTiB / 10);
  EXPECT_EQ(bytes_of("0.99999999999999999999999999999999T"), kTiB - 1);
  EXPECT_EQ(bytes_of("0." + std::string(1000, '3') + "G"), kGiB / 3);
}

TEST(ParseSize, Limits) {
  EXPECT_EQ(bytes_of("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(bytes_of("16777215.9999999999999999T"), UINT64_MAX);
  EXPECT_NE(error_of("18446744073709551616").find("too large"), std::string::npos);
  EXPECT_NE(error_of("16777216T").find("too large"), std::string::npos);
  EXPECT_NE(error_of("99999999999999999999999999999G").find("too large"), std::string::npos);
}

TEST(ParseSize, ErrorsQuoteTheTextAndSayWhy) {
  EXPECT_EQ(error_of("4Q"), "'4Q': unknown unit 'Q' (use B, K, M, G or T, as in 512K or 1.5GiB)");
  EXPECT_EQ(error_of(""), "'': no amount given");
  EXPECT_EQ(error_of("  "), "'  ': no amount given");
  EXPECT_EQ(error_of("-4M"), "'-4M': signs are not allowed in an amount of memory");
  EXPECT_EQ(error_of("M"), "'M': an amount of memory begins with a number");
  EXPECT_EQ(error_of("."), "'.': an amount of memory begins with a number");
  for (const char* text : {"4MM", "4BB", "4iB", "4Bi", "1e6", "0x10", "1,5M", "4M 5", "1.5.5",
                           "nan", "inf", "4KiBs", "4biB", "4 M i B"}) {
    EXPECT_NE(error_of(text), "") << text;
  }
  EXPECT_LT(error_of(std::string(10000, 'z')).size(), 200u);
}

TEST(FormatBytes, PicksTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1), "1 byte");
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(270336), "264 KiB");
  EXPECT_EQ(format_bytes(4 * kMiB), "4 MiB");
  EXPECT_EQ(format_bytes(kGiB + kGiB / 2), "1.5 GiB");
  EXPECT_EQ(format_bytes(kMiB + kMiB / 4), "1.25 MiB");
  EXPECT_EQ(format_bytes(kMiB / 1024 * 1034), "1.01 MiB");
  EXPECT_EQ(format_bytes(kMiB - 1), "1 MiB");  // not "1024 KiB"
  EXPECT_EQ(format_bytes(UINT64_MAX), "16 EiB");
  EXPECT_EQ(format_bytes(uint64_t{1} << 63), "8 EiB");
}

TEST(FormatBytes, RoundTripsWhereNothingIsRounded) {
  for (unsigned shift = 10; shift < 50; ++shift) {
    EXPECT_EQ(bytes_of(format_bytes(uint64_t{1} << shift)), uint64_t{1} << shift);
    if (shift < 12) continue;
    const uint64_t odd = uint64_t{3} << (shift - 2);
    EXPECT_EQ(bytes_of(format_bytes(odd)), odd);
  }
}

}  // namespace
}  // namespace fallow::telemetry
