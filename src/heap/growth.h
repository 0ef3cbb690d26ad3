#pragma once

#include <cstddef>

namespace fallow::detail {

/// When the next full collection starts: after growth by a factor, with a cap and a floor, and at
/// most 1.4 times the threshold before, so that one peak does not license the next (RPython's
/// rule).
class GrowthRule {
 public:
  GrowthRule(double factor, std::size_t cap_bytes, std::size_t floor_bytes) noexcept
      : factor_(factor), cap_(cap_bytes), floor_(floor_bytes), threshold_(floor_bytes) {}

  [[nodiscard]] std::size_t threshold() const noexcept { return threshold_; }

  /// A full collection left `used` bytes.
  void collected(std::size_t used) noexcept {
    double next = static_cast<double>(used) * factor_;
    if (cap_ != 0) next = smaller(next, static_cast<double>(used) + static_cast<double>(cap_));
    next = smaller(next, static_cast<double>(threshold_) * kLargestStep);
    // Never so low that the next collection would follow at once.
    next = larger(next, static_cast<double>(used) * kSmallestStep);
    next = larger(next, static_cast<double>(floor_));
    threshold_ = static_cast<std::size_t>(next);
  }

 private:
  static constexpr double kLargestStep = 1.4;
  static constexpr double kSmallestStep = 1.25;
  static double smaller(double a, double b) noexcept { return a < b ? a : b; }
  static double larger(double a, double b) noexcept { return a > b ? a : b; }

  double factor_;
  std::size_t cap_;
  std::size_t floor_;
  std::size_t threshold_;
};

}  // namespace fallow::detail
