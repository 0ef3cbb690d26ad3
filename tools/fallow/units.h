// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fallow::tool {

// "1,234,567"
std::string format_count(std::uint64_t count);

// "1 file", "2 files", "1,000 files"
std::string format_count(std::uint64_t count, std::string_view singular, std::string_view plural);

// Three digits and a unit: "1.23 s", "45.6 ms", "789 µs", "12 ns".
std::string format_seconds(double seconds);
std::string format_nanoseconds(std::uint64_t nanoseconds);

// "1.5 GiB/s"; "–" when nothing was measured.
std::string format_rate(std::uint64_t bytes, double seconds);

}  // namespace fallow::tool
