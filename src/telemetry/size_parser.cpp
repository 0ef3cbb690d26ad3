#include "telemetry/size_parser.h"

#include <array>
#include <cstdio>

namespace fallow::telemetry {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

char to_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Cuts the leading digits off `text`.
std::string_view take_digits(std::string_view& text) noexcept {
  size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

// The power of two that a unit stands for; nothing when there is no such unit.
std::optional<unsigned> unit_shift(std::string_view unit) noexcept {
  if (unit.empty()) return 0;
  constexpr std::string_view kLetters = "bkmgt";
  const size_t index = kLetters.find(to_lower(unit.front()));
  if (index == std::string_view::npos) return std::nullopt;
  unit.remove_prefix(1);
  if (index > 0 && unit.size() == 2 && to_lower(unit.front()) == 'i') unit.remove_prefix(1);
  if (index > 0 && unit.size() == 1 && to_lower(unit.front()) == 'b') unit.remove_prefix(1);
  if (!unit.empty()) return std::nullopt;
  return static_cast<unsigned>(index) * 10;
}

std::optional<uint64_t> whole_part(std::string_view digits, unsigned shift) noexcept {
  uint64_t value = 0;
  for (const char c : digits) {
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value > (UINT64_MAX - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  if (value > UINT64_MAX >> shift) return std::nullopt;
  return value << shift;
}

// floor(0.digits * 2^shift), exactly: Horner's rule from the last digit on.
uint64_t fraction_part(std::string_view digits, unsigned shift) noexcept {
  uint64_t value = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    value = ((static_cast<uint64_t>(digits[i] - '0') << shift) + value) / 10;
  }
  return value;
}

ParsedSize refuse(std::string_view text, const std::string& why) {
  constexpr size_t kMaxQuoted = 60;
  std::string quoted(text.substr(0, kMaxQuoted));
  if (text.size() > kMaxQuoted) quoted += "...";
  return {std::nullopt, "'" + quoted + "': " + why};
}

}  // namespace

ParsedSize parse_size(std::string_view text) {
  std::string_view rest = trimmed(text);
  if (rest.empty()) return refuse(text, "no amount given");
  if (rest.front() == '-' || rest.front() == '+') {
    return refuse(text, "signs are not allowed in an amount of memory");
  }
  const std::string_view whole = take_digits(rest);
  std::string_view fraction;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
  }
  if (whole.empty() && fraction.empty()) {
    return refuse(text, "an amount of memory begins with a number");
  }
  const std::string_view unit = trimmed(rest);
  const std::optional<unsigned> shift = unit_shift(unit);
  if (!shift) {
    return refuse(text, "unknown unit '" + std::string(unit.substr(0, 20)) +
                            "' (use B, K, M, G or T, as in 512K or 1.5GiB)");
  }
  const std::optional<uint64_t> bytes = whole_part(whole, *shift);
  if (!bytes) return refuse(text, "too large, 2^64 bytes or more");
  // A whole part is a multiple of 2^shift and the fraction is below it, so this cannot overflow.
  return {*bytes + fraction_part(fraction, *shift), {}};
}

std::string format_bytes(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  unsigned shift = 10;
  // In hundredths; the next unit also when rounding would show 1024.
  const auto hundredths = [&] {
    const uint64_t whole = bytes >> shift;
    const uint64_t remainder = bytes & ((uint64_t{1} << shift) - 1);
    // The remainder is scaled down to keep the product in range.
    const unsigned drop = shift > 50 ? shift - 50 : 0;
    const uint64_t scaled = (remainder >> drop) * 100;
    return whole * 100 + ((scaled + (uint64_t{1} << (shift - drop - 1))) >> (shift - drop));
  };
  while (unit + 1 < kUnits.size() && hundredths() >= 102400) {
    ++unit;
    shift += 10;
  }
  const uint64_t shown = hundredths();
  char digits[32];
  if (shown % 100 == 0) {
    std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(shown / 100));
  } else {
    std::snprintf(digits, sizeof digits, "%llu.%02u", static_cast<unsigned long long>(shown / 100),
                  static_cast<unsigned>(shown % 100));
  }
  std::string text = digits;
  if (shown % 100 != 0 && text.back() == '0') text.pop_back();
  return text + " " + kUnits[unit];
}

}  // namespace fallow::telemetry
