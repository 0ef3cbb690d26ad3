// Amounts of memory as people write them.
//
// Units: bytes; K, M, G and T are powers of 1024 whether written "4M", "4MB" or "4MiB".
// Thread-safety: pure functions. Errors: returned as text, nothing is thrown except bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fallow::telemetry {

struct ParsedSize {
  std::optional<uint64_t> bytes;
  std::string error;  // empty when bytes has a value; else such as "'4Q': unknown unit 'Q'"

  explicit operator bool() const noexcept { return bytes.has_value(); }
};

// Decimal digits, optionally with a fraction, then optionally one of B, K, M, G, T with an optional
// "B" or "iB", in any case; blanks around and before the unit are ignored. Fractions of a byte are
// cut off: "1.5K" is 1536. Signs, exponents and amounts of 2^64 and more are errors.
ParsedSize parse_size(std::string_view text);

// For people: "0 bytes", "1 byte", "264 KiB", "1.5 GiB"; rounded to two decimals.
std::string format_bytes(uint64_t bytes);

}  // namespace fallow::telemetry
