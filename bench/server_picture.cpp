// What `server` draws: the latency of every event and the size of the heap, by mode.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "bench/pixel_columns.h"
#include "bench/server.h"
#include "bench/server_record.h"
#include "bench/svg_panels.h"

namespace fallow::bench {

namespace {

const Points& points_of(const Measured& row, const std::string& name) {
  static const Points none;
  for (const Series& series : row.series) {
    if (series.name == name) return series.points;
  }
  return none;
}

std::string described(const Measured& row) {
  for (const ServerMode& mode : server_modes()) {
    if (row.name == mode.name) return fmt::format("{}: {}", mode.name, mode.meaning);
  }
  return row.name;
}

double largest_of(const Points& points) {
  double largest = 0;
  for (const auto& [second, value] : points) largest = std::max(largest, value);
  return largest;
}

Axis time_axis(const std::vector<Measured>& rows) {
  double last = 0;
  for (const Measured& row : rows) {
    for (const auto& [second, value] : points_of(row, kLatencySeries))
      last = std::max(last, second);
  }
  return linear_axis("time since the first event, s", last, false);
}

const char* color_of(std::size_t row) { return kColors[row % std::size(kColors)]; }

Panel latency_panel(const std::vector<Measured>& rows, const Axis& x) {
  std::vector<Curve> curves;
  for (const Measured& row : rows) {
    const Points& points = points_of(row, kLatencySeries);
    curves.push_back(
        {.legend = fmt::format("{}; at most {:.3g} ms", described(row), largest_of(points)),
         .color = color_of(curves.size()),
         .style = Curve::Style::kThinLine,
         .points = highest_of_columns(points, x)});
  }
  const Axis latencies = value_axis("latency of an event, ms", curves);
  return {x, latencies, std::move(curves)};
}

Panel heap_panel(const std::vector<Measured>& rows, const Axis& x) {
  std::vector<Curve> curves;
  double largest = 0;
  for (const Measured& row : rows) {
    const Points& points = points_of(row, kHeapSeries);
    largest = std::max(largest, largest_of(points));
    curves.push_back({.legend = fmt::format("{}; at most {:.0f} MiB", row.name, largest_of(points)),
                      .color = color_of(curves.size()),
                      .style = Curve::Style::kThinLine,
                      .points = outline_of_columns(points, x)});
  }
  return {x, linear_axis("objects in the old space, MiB", largest, true), std::move(curves)};
}

}  // namespace

std::string server_as_svg(const std::vector<Measured>& rows) {
  const Axis x = time_axis(rows);
  return as_svg(kServerTitle, {latency_panel(rows, x), heap_panel(rows, x)});
}

}  // namespace fallow::bench
