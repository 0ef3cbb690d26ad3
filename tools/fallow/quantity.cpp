#include "tools/fallow/quantity.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/fallow/units.h"

namespace fallow::tool {

std::string format_amount(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  double value = std::abs(bytes);
  // What would be written as 1000 goes over to the next unit.
  for (; value >= 999.5 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{}{:.{}f} {}", bytes < 0 ? "-" : "", value, decimals, kUnits[unit]);
}

std::string format_estimate(const profile::Tally& tally) {
  if (tally.samples() == 0) return "0 B";
  const std::string amount = format_amount(tally.bytes());
  if (tally.uncertain_samples() == 0) return amount + " (exact)";
  return fmt::format("{} ±{:.0f} % (k={}{})", amount, std::ceil(tally.relative_error() * 100),
                     format_count(tally.samples()), tally.samples() < kFewSamples ? ", few" : "");
}

std::string format_part(double part, double whole) {
  if (whole <= 0) return "–";
  const double percent = part / whole * 100;
  if (percent > 0 && percent < 0.5) return "<1 %";
  return fmt::format("{:.0f} %", percent);
}

std::string format_age(std::optional<std::int64_t> nanoseconds) {
  if (!nanoseconds) return "–";
  return format_nanoseconds(static_cast<std::uint64_t>(std::max<std::int64_t>(*nanoseconds, 0)));
}

nlohmann::json estimate_as_json(const profile::Tally& tally) {
  const profile::Interval range = tally.interval();
  return {{"bytes", tally.bytes()},
          {"low_bytes", range.low},
          {"high_bytes", range.high},
          {"objects", tally.objects()},
          {"samples", tally.samples()}};
}

std::string printed(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace fallow::tool
