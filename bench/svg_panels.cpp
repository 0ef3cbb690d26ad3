#include "bench/svg_panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/xml_text.h"

namespace fallow::bench {

namespace {

constexpr double kLeft = 80;
constexpr double kRight = 30;
constexpr double kWidth = kLeft + kPanelWidth + kRight;
constexpr double kHeight = 270;  // of the area between the axes
constexpr double kTitle = 50;
constexpr double kBelowAxis = 64;  // ticks and title
constexpr double kLegendLine = 18;
constexpr double kGap = 16;

std::string text(double x, double y, const char* attributes, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, attributes,
                     xml_text(words));
}

std::string line(double x1, double y1, double x2, double y2, const char* attributes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"{}/>\n", x1, y1,
                     x2, y2, attributes);
}

double height_of(const Panel& panel) {
  return kHeight + kBelowAxis + kLegendLine * static_cast<double>(panel.curves.size());
}

/// Draws one panel whose area begins at `top`.
class PanelWriter {
 public:
  PanelWriter(const Panel& panel, double top) : panel_(panel), top_(top) {}

  [[nodiscard]] std::string svg() const {
    std::string svg = axes();
    for (const Curve& curve : panel_.curves) svg += drawn(curve);
    for (std::size_t i = 0; i < panel_.curves.size(); ++i) svg += legend(i);
    return svg;
  }

 private:
  [[nodiscard]] double x(double value) const { return kLeft + panel_.x.part(value) * kPanelWidth; }
  [[nodiscard]] double y(double value) const { return bottom() - panel_.y.part(value) * kHeight; }
  [[nodiscard]] double bottom() const { return top_ + kHeight; }

  [[nodiscard]] std::string axes() const {
    const double right = kLeft + kPanelWidth;
    std::string svg;
    for (const auto& [value, label] : panel_.y.ticks) {
      svg += line(kLeft, y(value), right, y(value), " stroke=\"#ddd\"");
      svg += text(kLeft - 6, y(value) + 4, " text-anchor=\"end\"", label);
    }
    for (const auto& [value, label] : panel_.x.ticks) {
      svg += line(x(value), bottom(), x(value), bottom() + 4, " stroke=\"#333\"");
      svg += text(x(value), bottom() + 18, " text-anchor=\"middle\"", label);
    }
    svg += line(kLeft, bottom(), right, bottom(), " stroke=\"#333\"");
    svg += text((kLeft + right) / 2, bottom() + 38, " text-anchor=\"middle\"", panel_.x.title);
    return svg + fmt::format(
                     "<text transform=\"translate(16 {:.1f}) rotate(-90)\" "
                     "text-anchor=\"middle\">{}</text>\n",
                     bottom() - kHeight / 2, xml_text(panel_.y.title));
  }

  [[nodiscard]] std::string drawn(const Curve& curve) const {
    std::string points;
    std::string dots;
    for (const auto& [at, value] : curve.points) {
      if (!std::isfinite(at) || !std::isfinite(value)) continue;
      points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x(at), y(value));
      dots += fmt::format("M{:.1f} {:.1f}h0", x(at), y(value));
    }
    std::string svg;
    if (curve.style != Curve::Style::kDots) {
      svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"{}/>\n", points,
                         curve.color, stroke(curve.style));
    }
    if (curve.style == Curve::Style::kDots || curve.style == Curve::Style::kLineAndDots) {
      svg += path(dots, curve);
    }
    return svg;
  }

  /// Round ends of lines without length: a fraction of the bytes that circles take.
  static std::string path(const std::string& dots, const Curve& curve) {
    return fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-linecap=\"round\" "
        "stroke-width=\"{}\"/>\n",
        dots, curve.color, curve.style == Curve::Style::kDots ? 4 : 6);
  }

  static const char* stroke(Curve::Style style) {
    if (style == Curve::Style::kDashes) return " stroke-width=\"1.5\" stroke-dasharray=\"5 4\"";
    // Peaks of thick lines have spikes.
    if (style == Curve::Style::kThinLine) return " stroke-width=\"1.2\" stroke-linejoin=\"round\"";
    return " stroke-width=\"2\"";
  }

  [[nodiscard]] std::string legend(std::size_t row) const {
    const Curve& curve = panel_.curves[row];
    const double middle = bottom() + kBelowAxis + kLegendLine * static_cast<double>(row);
    const std::string sign =
        curve.style == Curve::Style::kDots
            ? path(fmt::format("M{:.1f} {:.1f}h0", kLeft + 12, middle), curve)
            : fmt::format(
                  "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" "
                  "stroke=\"{3}\"{4}/>\n",
                  kLeft, middle, kLeft + 24, curve.color, stroke(curve.style));
    return sign + text(kLeft + 32, middle + 4, "", curve.legend);
  }

  const Panel& panel_;
  double top_;
};

}  // namespace

Axis value_axis(std::string title, const std::vector<Curve>& curves) {
  double smallest = INFINITY;
  double largest = 0;
  for (const Curve& curve : curves) {
    for (const auto& [at, value] : curve.points) {
      if (!std::isfinite(value)) continue;
      if (value > 0) smallest = std::min(smallest, value);
      largest = std::max(largest, value);
    }
  }
  if (largest < 10 * smallest) return linear_axis(std::move(title), largest, true);
  return decimal_axis(std::move(title), smallest, largest);
}

std::string as_svg(const std::string& title, const std::vector<Panel>& panels) {
  std::string drawn = text(kLeft, 24, " font-size=\"15\"", title);
  double top = kTitle;
  for (const Panel& panel : panels) {
    drawn += PanelWriter(panel, top).svg();
    top += height_of(panel) + kGap;
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
             kWidth, top) +
         drawn + "</svg>\n";
}

}  // namespace fallow::bench
