#include "tools/fallow/log_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "bench/pixel_columns.h"
#include "bench/svg_panels.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

using bench::Axis;
using bench::Curve;
using bench::Panel;
using bench::Points;
using Kind = LogCollection::Kind;

struct Unit {
  double size;
  const char* name;
};

// The largest unit of which there is at least one.
Unit unit_for(double value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (value >= unit.size) return unit;
  }
  return units.back();
}

constexpr Unit kTimes[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}};
constexpr Unit kSizes[] = {{1024.0 * 1024 * 1024, "GiB"}, {1024.0 * 1024, "MiB"}, {1024, "KiB"}};

double us_of(const LogPause& pause) {
  return static_cast<double>(pause.span.end_ns - pause.span.begin_ns) * 1e-3;
}

Curve pauses_of_kind(const LogSummary& summary, Kind kind, const Axis& x, double time_unit) {
  Points points;
  double longest_us = 0;
  for (const LogPause& pause : summary.pauses) {
    if (pause.kind != kind) continue;
    points.emplace_back(static_cast<double>(pause.span.begin_ns) * 1e-9 / time_unit, us_of(pause));
    longest_us = std::max(longest_us, us_of(pause));
  }
  constexpr const char* kNames[] = {"minor", "step of a full collection", "full"};
  constexpr const char* kColors[] = {bench::kColors[0], bench::kColors[4], bench::kColors[1]};
  const auto index = static_cast<std::size_t>(kind);
  Curve curve{.legend = fmt::format("{}: {}, longest {}", kNames[index],
                                    format_count(points.size(), "pause", "pauses"),
                                    format_seconds(longest_us * 1e-6)),
              .color = kColors[index],
              .style = Curve::Style::kDots,
              .points = bench::highest_of_columns(points, x)};
  if (curve.points.size() < points.size()) {
    curve.legend += "; per pixel column the longest is drawn";
  }
  return curve;
}

Panel pause_panel(const LogSummary& summary, const Axis& x, double time_unit) {
  std::vector<Curve> curves;
  for (const Kind kind : {Kind::kMinor, Kind::kStep, Kind::kFull}) {
    if (summary.pauses_of_kind(kind) == 0) continue;
    curves.push_back(pauses_of_kind(summary, kind, x, time_unit));
  }
  const Axis lengths = bench::value_axis("length of the pause, µs", curves);
  return {x, lengths, std::move(curves)};
}

double largest_of(const std::vector<LogMemory>& memory) {
  double largest = 0;
  for (const LogMemory& point : memory) largest = std::max(largest, point.bytes);
  return largest;
}

Points points_of(const std::vector<LogMemory>& memory, double time_unit, double size_unit) {
  Points points;
  points.reserve(memory.size());
  for (const LogMemory& at : memory) {
    points.emplace_back(at.at_s / time_unit, at.bytes / size_unit);
  }
  return points;
}

// Each value holds until the next one.
Points as_steps(const Points& points, double last_x) {
  Points steps;
  for (const auto& point : points) {
    if (!steps.empty()) steps.emplace_back(point.first, steps.back().second);
    steps.push_back(point);
  }
  if (!steps.empty()) steps.emplace_back(last_x, steps.back().second);
  return steps;
}

Panel heap_panel(const LogSummary& summary, const Axis& x, double time_unit) {
  const double largest = std::max(largest_of(summary.used), largest_of(summary.thresholds));
  const Unit unit = unit_for(largest, kSizes);
  const std::string title = fmt::format("memory used, {}", unit.name);
  Panel panel{x, bench::linear_axis(title, largest / unit.size, true), {}};
  if (!summary.thresholds.empty()) {
    const auto steps = as_steps(points_of(summary.thresholds, time_unit, unit.size), x.last);
    panel.curves.push_back({.legend = "where the next full collection is to start",
                            .color = bench::kColors[3],
                            .style = Curve::Style::kDashes,
                            .points = bench::outline_of_columns(steps, x)});
  }
  if (!summary.used.empty()) {
    const auto points = points_of(summary.used, time_unit, unit.size);
    panel.curves.push_back({.legend = fmt::format("used after a collection, at most {:.4g} {}",
                                                  largest_of(summary.used) / unit.size, unit.name),
                            .color = bench::kColors[2],
                            .style = Curve::Style::kLine,
                            .points = bench::outline_of_columns(points, x)});
  }
  return panel;
}

}  // namespace

std::string log_title(const std::string& file, const LogSummary& summary) {
  const std::string name =
      file == "-" ? "standard input" : std::filesystem::path(file).filename().string();
  return fmt::format("{}: {} in {}", name, format_count(summary.pauses.size(), "pause", "pauses"),
                     format_seconds(summary.span_s));
}

std::string log_as_svg(const std::string& file, const LogSummary& summary) {
  const Unit unit = unit_for(summary.span_s, kTimes);
  const Axis x = bench::linear_axis(fmt::format("time since the start of the log, {}", unit.name),
                                    summary.span_s / unit.size, false);
  return bench::as_svg(log_title(file, summary),
                       {pause_panel(summary, x, unit.size), heap_panel(summary, x, unit.size)});
}

}  // namespace fallow::tool
