#include "heap/marker_thread.h"

#include "heap/heap_core.h"
#include "platform/futex.h"
#include "telemetry/collector_time.h"

namespace fallow::detail {

MarkerThread::~MarkerThread() {
  if (state_.load() == kAbsent) return;
  state_.store(kEnding);
  platform::futex_wake_all(state_);
  thread_.join();
}

void MarkerThread::notify() noexcept {
  const std::uint32_t state = state_.load();
  if (state == kAsleep) {
    state_.store(kAwake);
    platform::futex_wake_all(state_);
  } else if (state == kNotStarted) {
    state_.store(kAwake);
    if (!thread_.start("fallow-marker", run, this)) state_.store(kAbsent);
  }
}

void MarkerThread::child_after_fork() noexcept {
  thread_.forget();
  state_.store(kAbsent);
}

void MarkerThread::run(void* self) {
  auto& marker = *static_cast<MarkerThread*>(self);
  telemetry::enter_collector();  // for good
  while (marker.state_.load() != kEnding) {
    marker.mark_until_asleep();
    platform::futex_wait(marker.state_, kAsleep, 0);
  }
}

void MarkerThread::mark_until_asleep() {
  while (state_.load() == kAwake) visit();
}

void MarkerThread::visit() {
  const World::Visit visit(core_.world());
  const Stopwatch watch;
  const std::size_t done = core_.full_cycle().marking_done();
  bool more = true;
  while (more && state_.load(std::memory_order_relaxed) == kAwake) {
    if (core_.world().stop_requested()) break;
    more = core_.mark_beside();
  }
  core_.marked_beside(core_.full_cycle().marking_done() - done, watch.cpu_ns());
  if (more) return;
  std::uint32_t awake = kAwake;
  state_.compare_exchange_strong(awake, kAsleep);
}

}  // namespace fallow::detail
