#include "bench/idle_steps.h"

#include <chrono>

#include "platform/clock.h"

namespace fallow::bench {

namespace {

/// A step may begin with a minor collection, and ends some time after its deadline.
constexpr std::uint64_t kMarginNs = 300'000;
/// Less than this is not worth stopping for.
constexpr std::uint64_t kLeastNs = 200'000;
/// So much of the nursery takes a quarter of a millisecond even if all of it survives.
constexpr std::size_t kSmallPart = 16;

}  // namespace

void IdleSteps::work_before(std::uint64_t moment_ns) {
  const std::uint64_t deadline = moment_ns - kMarginNs;
  if (platform::monotonic_ns() + kLeastNs > deadline) return;
  // Between events, so that none has to wait for a minor collection.
  if (heap_.usage().young >= heap_.options().nursery_bytes / kSmallPart) heap_.collect_minor();
  const HeapUsage now = heap_.usage();
  // A little early, since the heap grows while it marks.
  const bool due = now.old > now.next_full_at / 10 * 9;
  if (!due && now.cycle == CycleState::kIdle) return;
  const std::chrono::nanoseconds since_start(deadline);
  heap_.step_until(std::chrono::steady_clock::time_point(since_start));
}

}  // namespace fallow::bench
