#include "bench/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "bench/svg_panels.h"

namespace fallow::bench {

namespace {

double largest_of(const Series& series) {
  double largest = 0;
  for (const auto& [x, y] : series.points) {
    if (std::isfinite(x) && std::isfinite(y)) largest = std::max(largest, y);
  }
  return largest > 0 ? largest : 1;
}

Axis x_axis(const LineChart& chart) {
  double first = INFINITY;
  double last = 0;
  for (const Series& series : chart.series) {
    for (const auto& [x, y] : series.points) {
      first = std::min(first, x);
      last = std::max(last, x);
    }
  }
  if (!(last > 0)) first = last = 1;
  if (!(last > first)) last = 2 * first;
  Axis axis{.title = chart.x_title, .first = first, .last = last, .logarithmic = true, .ticks = {}};
  if (chart.series.empty()) return axis;
  for (const auto& [x, y] : chart.series.front().points) {
    axis.ticks.emplace_back(x, chart.x_label(x));
  }
  return axis;
}

Axis percent_axis() {
  Axis axis{.title = "part of the largest value", .last = 100, .ticks = {}};
  for (int percent = 0; percent <= 100; percent += 20) {
    axis.ticks.emplace_back(percent, fmt::format("{} %", percent));
  }
  return axis;
}

}  // namespace

std::string as_svg(const LineChart& chart) {
  Panel panel{x_axis(chart), percent_axis(), {}};
  for (const Series& series : chart.series) {
    const double largest = largest_of(series);
    Curve curve{.legend = fmt::format("{}; 100 % = {:.3g}", series.name, largest),
                .color = kColors[panel.curves.size() % std::size(kColors)],
                .style = Curve::Style::kLineAndDots,
                .points = series.points};
    for (auto& [x, y] : curve.points) y *= 100 / largest;
    panel.curves.push_back(std::move(curve));
  }
  return as_svg(chart.title, {panel});
}

}  // namespace fallow::bench
