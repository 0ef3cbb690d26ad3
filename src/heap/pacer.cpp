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
  done_before_ = 0;
}

std::uint64_t Pacer::allowance(std::size_t used, std::size_t done) noexcept {
  const std::size_t grown = used > used_before_ ? used - used_before_ : 0;
  used_before_ = used;
  const std::size_t end = used < aim_ ? aim_ : goal_;
  // Between the aim and the goal the rest of the room has to do, past it there is none.
  const double part =
      used < end ? static_cast<double>(grown) / static_cast<double>(end - used + grown) : 1;
  const auto due = static_cast<double>(remaining(done_before_)) * part;
  const auto done_meanwhile = static_cast<double>(done > done_before_ ? done - done_before_ : 0);
  done_before_ = done;
  const auto wanted =
      static_cast<std::uint64_t>(std::max(due - done_meanwhile, 0.0) * ns_per_unit_);
  const std::uint64_t allowed = std::clamp(wanted, budget_ns_ / kLeastPart, budget_ns_);
  owed_ns_ = wanted > allowed ? wanted - allowed : 0;
  return used < aim_ ? allowed : budget_ns_;
}

void Pacer::learn(std::size_t units, std::uint64_t cpu_ns) noexcept {
  done_before_ += units;
  if (units == 0) return;
  const double seen = static_cast<double>(cpu_ns) / static_cast<double>(units);
  ns_per_unit_ += (seen - ns_per_unit_) * kNewest;
}

}  // namespace fallow::detail
