#include "heap/share_cap.h"

namespace fallow::detail {

std::uint64_t ShareCap::debt(std::uint64_t now_ns) const noexcept {
  const std::uint64_t debt = debt_ns_.load(std::memory_order_relaxed);
  const std::uint64_t ended = ended_ns_.load(std::memory_order_relaxed);
  const double paid = now_ns > ended ? static_cast<double>(now_ns - ended) * drain_ : 0;
  return paid >= static_cast<double>(debt) ? 0 : debt - static_cast<std::uint64_t>(paid);
}

void ShareCap::collected(std::uint64_t cpu_ns, std::uint64_t now_ns) noexcept {
  // Its own time is no time between collections.
  const std::uint64_t began = now_ns > cpu_ns ? now_ns - cpu_ns : 0;
  debt_ns_.store(debt(began) + cpu_ns, std::memory_order_relaxed);
  ended_ns_.store(now_ns, std::memory_order_relaxed);
}

}  // namespace fallow::detail
