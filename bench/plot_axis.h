#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fallow::bench {

/// What lies between two values, and where it is labelled.
struct Axis {
  std::string title;  ///< with the unit
  double first = 0;
  double last = 1;
  bool logarithmic = false;
  std::vector<std::pair<double, std::string>> ticks;

  /// 0 at `first`, 1 at `last`. A value that a logarithmic axis cannot show lies at 0.
  [[nodiscard]] double part(double value) const;
};

/// From 0 to `largest`, or to the tick behind it with `to_tick`; ticks at round numbers.
Axis linear_axis(std::string title, double largest, bool to_tick);

/// The powers of ten around two positive values; within two of them also ticks at 2 and 5.
Axis decimal_axis(std::string title, double smallest, double largest);

}  // namespace fallow::bench
