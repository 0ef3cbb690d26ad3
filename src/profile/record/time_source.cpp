#include "profile/record/time_source.h"

#include <cstring>

#include "platform/clock.h"

namespace fallow::profile {

namespace {
constexpr std::uint64_t kFirstCalibrationNs = 50'000'000;
}

void TimeSource::start() noexcept {
  line_.store(nullptr, std::memory_order_relaxed);
  used_ = 0;
  start_ns_ = platform::monotonic_ns();
  start_ticks_ = platform::ticks();
  next_ns_ = kFirstCalibrationNs;
}

std::int64_t TimeSource::now() const noexcept {
  const Line* const line = line_.load(std::memory_order_acquire);
  if (line == nullptr) return static_cast<std::int64_t>(platform::monotonic_ns() - start_ns_);
  const auto ticks = static_cast<std::int64_t>(platform::ticks() - line->ticks);
  return line->ns + static_cast<std::int64_t>(static_cast<double>(ticks) * line->ns_per_tick);
}

void TimeSource::calibrate() noexcept {
  // The counter must be one that all processors share.
  if (std::strcmp(platform::ticks_source(), "thread_cpu") == 0) return;
  const std::uint64_t elapsed = platform::monotonic_ns() - start_ns_;
  if (elapsed < next_ns_ || used_ == lines_.size()) return;
  const std::uint64_t ticks = platform::ticks();
  const std::uint64_t passed = ticks - start_ticks_;
  if (passed == 0) return;
  lines_[used_] = {ticks, static_cast<std::int64_t>(elapsed),
                   static_cast<double>(elapsed) / static_cast<double>(passed)};
  line_.store(&lines_[used_++], std::memory_order_release);
  next_ns_ = elapsed * 2;
}

}  // namespace fallow::profile
