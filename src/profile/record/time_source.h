#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace fallow::profile {

/// Nanoseconds since the start of a recording, on the monotonic clock. Reads the clock at first,
/// and the processor's tick counter, which takes half of the time, once its speed has been measured
/// in passing.
///
/// Thread-safety: now() any thread and signal handlers; the rest one thread at a time.
class TimeSource {
 public:
  void start() noexcept;
  [[nodiscard]] std::uint64_t start_monotonic_ns() const noexcept { return start_ns_; }

  [[nodiscard]] std::int64_t now() const noexcept;

  /// To be called now and then: measures the counter's speed again whenever the time since the
  /// first measurement has doubled, and corrects what has drifted.
  void calibrate() noexcept;

 private:
  struct Line {
    std::uint64_t ticks;
    std::int64_t ns;  // since the start
    double ns_per_tick;
  };
  std::atomic<const Line*> line_{nullptr};
  std::array<Line, 48> lines_{};  // one for each doubling of the time
  std::size_t used_ = 0;
  std::uint64_t start_ns_ = 0;
  std::uint64_t start_ticks_ = 0;
  std::uint64_t next_ns_ = 0;
};

}  // namespace fallow::profile
