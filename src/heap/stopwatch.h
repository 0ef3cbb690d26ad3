#pragma once

#include <cstdint>

#include "platform/clock.h"

namespace fallow::detail {

/// As the log writes times.
inline double seconds(std::uint64_t ns) noexcept { return static_cast<double>(ns) * 1e-9; }

/// Wall and CPU time of a stretch of work on this thread, in nanoseconds.
class Stopwatch {
 public:
  explicit Stopwatch(bool with_cpu_clock = true) noexcept
      : with_cpu_clock_(with_cpu_clock),
        cpu_(with_cpu_clock ? platform::thread_cpu_ns() : 0),
        wall_(platform::monotonic_ns()) {}
  [[nodiscard]] std::uint64_t wall_ns() const noexcept { return platform::monotonic_ns() - wall_; }
  /// Without the CPU clock the wall time, which is not less.
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept {
    return with_cpu_clock_ ? platform::thread_cpu_ns() - cpu_ : wall_ns();
  }

 private:
  bool with_cpu_clock_;
  // In this order: the CPU clock is a system call, which is not part of the work.
  std::uint64_t cpu_;
  std::uint64_t wall_;
};

/// CPU time that a step may use, and optionally a moment when it has to end.
class StepBudget {
 public:
  static constexpr std::uint64_t kUnlimited = UINT64_MAX;

  /// `deadline_ns` on the monotonic clock.
  explicit StepBudget(std::uint64_t cpu_ns, std::uint64_t deadline_ns = kUnlimited) noexcept
      : cpu_ns_(cpu_ns), deadline_ns_(deadline_ns) {}

  [[nodiscard]] bool spent() const noexcept {
    if (cpu_ns_ == kUnlimited && deadline_ns_ == kUnlimited) return false;
    // The CPU clock is a system call; less wall time than the budget settles it.
    const std::uint64_t wall = watch_.wall_ns();
    if (wall >= cpu_ns_ && watch_.cpu_ns() >= cpu_ns_) return true;
    return deadline_ns_ != kUnlimited && platform::monotonic_ns() >= deadline_ns_;
  }
  [[nodiscard]] const Stopwatch& watch() const noexcept { return watch_; }

 private:
  std::uint64_t cpu_ns_;
  std::uint64_t deadline_ns_;
  Stopwatch watch_;
};

}  // namespace fallow::detail
