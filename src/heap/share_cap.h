#pragma once

#include <atomic>
#include <cstdint>

namespace fallow::detail {

/// Keeps the collections that a limit forces within a share of the time, so that a program that
/// leaks into the limit is not collected to death: a leaky bucket, into which collections pour
/// their CPU time and from which the time between them drains in the proportion of the share.
///
/// collected() needs all mutators stopped, forgive() a running one; the rest may be asked at any
/// time. Pure arithmetic; times
/// in nanoseconds, moments by the monotonic clock.
class ShareCap {
 public:
  /// Forced collections may take `share` of the time, 0 … 1.
  explicit ShareCap(double share) noexcept : drain_(share / (1 - share)) {}

  /// A forced collection that took `cpu_ns` has just ended.
  void collected(std::uint64_t cpu_ns, std::uint64_t now_ns) noexcept;
  /// Whether the time since the last ones has paid for them.
  [[nodiscard]] bool is_paid(std::uint64_t now_ns) const noexcept { return debt(now_ns) == 0; }
  /// Whether they have taken more than the share for so long that this is no burst.
  [[nodiscard]] bool is_exhausted(std::uint64_t now_ns) const noexcept {
    return debt(now_ns) >= kExhaustedNs;
  }
  /// An allocation has failed for it: the program may have dropped something since, so the next
  /// one may try again.
  void forgive() noexcept { debt_ns_.store(kExhaustedNs / 2, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kExhaustedNs = 1'000'000'000;

  [[nodiscard]] std::uint64_t debt(std::uint64_t now_ns) const noexcept;

  const double drain_;  ///< paid by a nanosecond without collections
  std::atomic<std::uint64_t> debt_ns_{0};
  std::atomic<std::uint64_t> ended_ns_{0};
};

}  // namespace fallow::detail
