#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fallow::bench {

struct Series {
  std::string name;  ///< with the unit
  std::vector<std::pair<double, double>> points;
};

/// A line chart as an SVG document. The x axis is logarithmic to base 2; every series is scaled to
/// its own largest value, which the legend names, so that different units share the picture.
/// `x_label(x)` writes a tick.
std::string line_chart(const std::string& title, const std::vector<Series>& series,
                       std::string (*x_label)(double));

}  // namespace fallow::bench
