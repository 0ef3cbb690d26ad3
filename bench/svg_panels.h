#pragma once

#include <string>
#include <vector>

#include "bench/plot_axis.h"
#include "bench/series.h"

namespace fallow::bench {

struct Curve {
  enum class Style { kDots, kLine, kThinLine, kDashes, kLineAndDots };

  std::string legend;
  const char* color = "";
  Style style = Style::kLine;
  /// Those that are no finite number are left out.
  Points points;
};

struct Panel {
  Axis x;
  Axis y;
  std::vector<Curve> curves;  ///< the last one on top
};

/// Pixels between the ends of an x axis: more points side by side than that cannot be told apart.
inline constexpr int kPanelWidth = 650;

/// Colours that people tell apart who see few of them.
inline constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"};

/// For the values that the curves draw: linear while all are of one order of magnitude.
Axis value_axis(std::string title, const std::vector<Curve>& curves);

/// Panels, one below the other, each with its legend, as an SVG document.
std::string as_svg(const std::string& title, const std::vector<Panel>& panels);

}  // namespace fallow::bench
