#include "bench/idle_steps.h"

#include <chrono>

#include "platform/clock.h"

namespace fallow::bench {

namespace {

/// A step may begin with a minor collection, and ends some time after its deadline.
constexpr std::uint64_t kMarginNs = 300'000;
/// Less than this is not worth stopping for.
constexpr std::uint64_t kLeastNs = 200'000;

}  // namespace

void IdleSteps::work_before(std::uint64_t moment_ns) {
  if (!under_way_ && !is_due()) return;
  const std::uint64_t deadline = moment_ns - kMarginNs;
  if (platform::monotonic_ns() + kLeastNs > deadline) return;
  const std::chrono::nanoseconds since_start(deadline);
  const StepResult result = heap_.step_until(std::chrono::steady_clock::time_point(since_start));
  under_way_ = !result.cycle_ended;
}

/// A little early, since the heap grows while it marks.
bool IdleSteps::is_due() const {
  const HeapStatistics now = heap_.statistics();
  return now.old_used + now.large_used > now.next_full_at / 10 * 9;
}

}  // namespace fallow::bench
