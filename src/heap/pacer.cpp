#include "heap/pacer.h"

#include <algorithm>

namespace fallow::detail {

namespace {
/// Weight of the newest observation of the speed.
constexpr double kNewest = 0.25;
}  // namespace

void Pacer::begin(std::size_t used, std::size_t goal, std::size_t work) noexcept {
  used_before_ = used;
  goal_ = goal;
  aim_ = used + (goal > used ? (goal - used) / 3 * 2 : 0);
  work_ = work;
}

std::uint64_t Pacer::allowance(std::size_t used, std::size_t done) noexcept {
  const std::size_t grown = used > used_before_ ? used - used_before_ : 0;
  used_before_ = used;
  if (used >= goal_) return budget_ns_ + budget_ns_ / 2;
  if (used >= aim_) return budget_ns_;
  const double part = static_cast<double>(grown) / static_cast<double>(aim_ - used + grown);
  const double wanted = static_cast<double>(remaining(done)) * ns_per_unit_ * part;
  const auto least = static_cast<double>(budget_ns_) / static_cast<double>(kLeastPart);
  const auto most = static_cast<double>(budget_ns_);
  return static_cast<std::uint64_t>(std::clamp(wanted, least, most));
}

void Pacer::learn(std::size_t units, std::uint64_t cpu_ns) noexcept {
  if (units == 0) return;
  const double seen = static_cast<double>(cpu_ns) / static_cast<double>(units);
  ns_per_unit_ += (seen - ns_per_unit_) * kNewest;
}

}  // namespace fallow::detail
