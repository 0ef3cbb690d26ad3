#include "heap/pause_target.h"

#include <algorithm>

namespace fallow::detail {

namespace {

/// The part of a pause that copying may take; the rest is for a step, and for surprises.
constexpr double kCopyPart = 0.6;
/// The part that copying and a step may take together: a step overruns by a quantum.
constexpr double kWholePart = 0.9;
/// What is remembered of the highest cost after one more collection: after a thousand still so much
/// that the same cost again fits, for one pause in a thousand may be too long.
constexpr double kRemembered = 0.9996;
/// A cycle makes progress in any case.
constexpr std::uint64_t kLeastStepNs = 20'000;

}  // namespace

std::size_t PauseTarget::affordable() const noexcept {
  if (target_ns_ == 0) return nursery_bytes_;
  const double bytes = static_cast<double>(target_ns_) * kCopyPart / ns_per_byte_;
  if (bytes >= static_cast<double>(nursery_bytes_)) return nursery_bytes_;
  return static_cast<std::size_t>(bytes);
}

void PauseTarget::learn(std::size_t bytes, std::uint64_t ns) noexcept {
  if (target_ns_ == 0 || bytes == 0) return;
  const double seen = static_cast<double>(ns) / static_cast<double>(bytes);
  ns_per_byte_ = std::max(seen, ns_per_byte_ * kRemembered);
  young_bytes_ = affordable();
}

std::uint64_t PauseTarget::step_allowance(std::uint64_t wanted_ns,
                                          std::uint64_t minor_ns) const noexcept {
  if (target_ns_ == 0) return wanted_ns;
  const auto whole = static_cast<std::uint64_t>(static_cast<double>(target_ns_) * kWholePart);
  const std::uint64_t left = whole > minor_ns ? whole - minor_ns : 0;
  return std::min(wanted_ns, std::max(left, kLeastStepNs));
}

}  // namespace fallow::detail
