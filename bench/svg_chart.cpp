#include "bench/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fallow::bench {

namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 450;
constexpr double kLeft = 70;
constexpr double kRight = 30;
constexpr double kTop = 50;
constexpr double kBottom = 130;
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"};

std::string escape(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string text(double x, double y, const char* attributes, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, attributes,
                     escape(words));
}

bool is_finite(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

double largest_of(const Series& series) {
  double largest = 0;
  for (const auto& point : series.points) {
    if (is_finite(point)) largest = std::max(largest, point.second);
  }
  return largest > 0 ? largest : 1;
}

/// From values to the picture.
class Scale {
 public:
  explicit Scale(const std::vector<Series>& series) {
    for (const Series& line : series) {
      for (const auto& [x, y] : line.points) {
        first_ = std::min(first_, std::log2(x));
        last_ = std::max(last_, std::log2(x));
      }
    }
    if (!(last_ > first_)) last_ = first_ + 1;
  }
  [[nodiscard]] double x(double value) const {
    return kLeft + (std::log2(value) - first_) / (last_ - first_) * (kWidth - kLeft - kRight);
  }
  /// `part` is 0 at the bottom, 1 at the top.
  [[nodiscard]] static double y(double part) {
    return kHeight - kBottom - part * (kHeight - kTop - kBottom);
  }

 private:
  double first_ = INFINITY;
  double last_ = -INFINITY;
};

std::string axes(const LineChart& chart, const Scale& scale) {
  std::string svg;
  for (int percent = 0; percent <= 100; percent += 20) {
    const double y = Scale::y(percent / 100.0);
    svg += fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n",
                       kLeft, y, kWidth - kRight, y, percent == 0 ? "#333" : "#ddd");
    svg += text(kLeft - 6, y + 4, " text-anchor=\"end\"", fmt::format("{} %", percent));
  }
  if (!chart.series.empty()) {
    for (const auto& [x, y] : chart.series.front().points) {
      svg += text(scale.x(x), Scale::y(0) + 18, " text-anchor=\"middle\"", chart.x_label(x));
    }
  }
  svg += text((kLeft + kWidth - kRight) / 2, Scale::y(0) + 38, " text-anchor=\"middle\"",
              chart.x_title);
  svg += fmt::format(
      "<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">part of the "
      "largest value</text>\n",
      Scale::y(0.5));
  return svg;
}

std::string curve(const Series& series, const Scale& scale, double largest, const char* color) {
  std::string points;
  std::string dots;
  for (const auto& point : series.points) {
    if (!is_finite(point)) continue;
    const double x = scale.x(point.first);
    const double y = Scale::y(point.second / largest);
    points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x, y);
    dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, y, color);
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                     points, color) +
         dots;
}

std::string legend(std::size_t line, const std::string& words, const char* color) {
  const double y = kHeight - kBottom + 64 + 18 * static_cast<double>(line);
  return fmt::format(
             "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" "
             "stroke-width=\"2\"/>\n",
             kLeft, y, kLeft + 24, y, color) +
         text(kLeft + 32, y + 4, "", words);
}

}  // namespace

std::string as_svg(const LineChart& chart) {
  const Scale scale(chart.series);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      kWidth, kHeight);
  svg += text(kLeft, 24, " font-size=\"15\"", chart.title);
  svg += axes(chart, scale);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    const char* const color = kColors[i % std::size(kColors)];
    const double largest = largest_of(series);
    svg += curve(series, scale, largest, color);
    svg += legend(i, fmt::format("{}; 100 % = {:.3g}", series.name, largest), color);
  }
  return svg + "</svg>\n";
}

}  // namespace fallow::bench
