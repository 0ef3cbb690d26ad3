#include "bench/plot_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fallow::bench {

namespace {

/// About as many as a picture has room for.
constexpr double kMostTicks = 8;

/// "1,000,000", "0.05"
std::string label(double value, int decimals) {
  std::string digits = fmt::format("{:.{}f}", value, decimals);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t at = point; at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

int decimals_of(double step) {
  return std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
}

/// The smallest of 1, 2 and 5 times a power of ten that leaves few enough ticks.
double round_step(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / kMostTicks)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= kMostTicks) return factor * power;
  }
  return 10 * power;
}

}  // namespace

double Axis::part(double value) const {
  if (!logarithmic) return (value - first) / (last - first);
  if (!(value > first)) return 0;
  return std::log(value / first) / std::log(last / first);
}

Axis linear_axis(std::string title, double largest, bool to_tick) {
  Axis axis{.title = std::move(title), .last = largest > 0 ? largest : 1, .ticks = {}};
  const double step = round_step(axis.last);
  const int decimals = decimals_of(step);
  if (to_tick) axis.last = std::ceil(axis.last / step - 1e-9) * step;
  for (int i = 0; i * step <= axis.last * (1 + 1e-9); ++i) {
    axis.ticks.emplace_back(i * step, label(i * step, decimals));
  }
  return axis;
}

Axis decimal_axis(std::string title, double smallest, double largest) {
  const double low = std::floor(std::log10(smallest) + 1e-9);
  const double high = std::max(std::ceil(std::log10(largest) - 1e-9), low + 1);
  Axis axis{.title = std::move(title),
            .first = std::pow(10, low),
            .last = std::pow(10, high),
            .logarithmic = true,
            .ticks = {}};
  for (double exponent = low; exponent <= high; ++exponent) {
    const double power = std::pow(10, exponent);
    for (const double factor : {1.0, 2.0, 5.0}) {
      const bool shown = factor == 1 || (high - low <= 2 && exponent < high);
      if (shown) axis.ticks.emplace_back(factor * power, label(factor * power, decimals_of(power)));
    }
  }
  return axis;
}

}  // namespace fallow::bench
