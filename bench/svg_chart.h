#pragma once

#include <string>
#include <vector>

#include "bench/series.h"

namespace fallow::bench {

struct LineChart {
  std::string title;
  std::string x_title;
  /// Writes a tick of the x axis, with its unit.
  std::string (*x_label)(double x);
  std::vector<Series> series;  ///< named with their units
};

/// A line chart as an SVG document. The x axis is logarithmic to base 2, with a tick at each point
/// of the first series. Each series is scaled to its own largest value, which the legend names, so
/// that different units share the picture. Points that are no finite number are left out.
std::string as_svg(const LineChart& chart);

}  // namespace fallow::bench
