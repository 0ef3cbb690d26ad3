#include "bench/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fallow::bench {

namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 420;
constexpr double kLeft = 50;
constexpr double kRight = 20;
constexpr double kTop = 50;
constexpr double kBottom = 110;
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

double largest_of(const Series& series) {
  double largest = 0;
  for (const auto& [x, y] : series.points) largest = std::max(largest, y);
  return largest > 0 ? largest : 1;
}

}  // namespace

std::string line_chart(const std::string& title, const std::vector<Series>& series,
                       std::string (*x_label)(double)) {
  double first = INFINITY;
  double last = -INFINITY;
  for (const Series& line : series) {
    for (const auto& [x, y] : line.points) {
      first = std::min(first, std::log2(x));
      last = std::max(last, std::log2(x));
    }
  }
  if (!(last > first)) last = first + 1;
  const auto place_x = [&](double x) {
    return kLeft + (std::log2(x) - first) / (last - first) * (kWidth - kLeft - kRight);
  };
  const auto place_y = [](double part) {
    return kHeight - kBottom - part * (kHeight - kTop - kBottom);
  };

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"24\" font-size=\"15\">{3}</text>\n",
      kWidth, kHeight, kLeft, escape(title));
  for (int tenths = 0; tenths <= 10; tenths += 2) {
    const double y = place_y(tenths / 10.0);
    svg += fmt::format(
        "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{} %</text>\n",
        kLeft, y, kWidth - kRight, y, kLeft - 6, y + 4, tenths * 10);
  }
  if (!series.empty()) {
    for (const auto& [x, y] : series.front().points) {
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                         place_x(x), kHeight - kBottom + 18, escape(x_label(x)));
    }
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    const char* const color = kColors[i % std::size(kColors)];
    const double largest = largest_of(series[i]);
    std::string points;
    for (const auto& [x, y] : series[i].points) {
      points += fmt::format("{:.1f},{:.1f} ", place_x(x), place_y(y / largest));
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                       points, color);
    const double legend_y = kHeight - kBottom + 44 + 18 * static_cast<double>(i);
    svg += fmt::format(
        "<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" stroke=\"{3}\" stroke-width=\"2\"/>"
        "<text x=\"{4}\" y=\"{5}\">{6}; 100 % = {7:.3g}</text>\n",
        kLeft, legend_y, kLeft + 24, color, kLeft + 32, legend_y + 4, escape(series[i].name),
        largest);
  }
  return svg + "</svg>\n";
}

}  // namespace fallow::bench
