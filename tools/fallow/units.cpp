#include "tools/fallow/units.h"

#include <fmt/format.h>

#include "telemetry/size_parser.h"

namespace fallow::tool {

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

std::string format_count(std::uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", format_count(count), count == 1 ? singular : plural);
}

std::string format_seconds(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
  for (const Unit& unit : kUnits) {
    const double value = seconds / unit.seconds;
    if (value < 0.9995 && unit.seconds > 1e-9) continue;
    const int decimals = unit.seconds == 1e-9 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}", value, decimals, unit.name);
  }
  return {};
}

std::string format_nanoseconds(std::uint64_t nanoseconds) {
  return format_seconds(static_cast<double>(nanoseconds) * 1e-9);
}

std::string format_rate(std::uint64_t bytes, double seconds) {
  if (bytes == 0 || seconds <= 0) return "–";
  return telemetry::format_bytes(static_cast<std::uint64_t>(static_cast<double>(bytes) / seconds)) +
         "/s";
}

}  // namespace fallow::tool
