#include "heap/no_gc_gate.h"

#include <algorithm>
#include <mutex>

#include "platform/clock.h"
#include "platform/futex.h"

namespace fallow::detail {

std::uint64_t NoGcGate::enter(std::uint64_t deadline_ns) noexcept {
  const std::scoped_lock lock(mutex_);
  latest_deadline_ns_ =
      open_.load() == 0 ? deadline_ns : std::max(latest_deadline_ns_, deadline_ns);
  open_.fetch_add(1);
  scopes_.fetch_add(1, std::memory_order_relaxed);
  return generation_.load(std::memory_order_relaxed);
}

void NoGcGate::leave(std::uint64_t generation, bool overrun) noexcept {
  const std::scoped_lock lock(mutex_);
  if (generation_.load(std::memory_order_relaxed) != generation) return;
  if (overrun) overruns_.fetch_add(1, std::memory_order_relaxed);
  if (open_.fetch_sub(1) == 1) platform::futex_wake_all(open_);
}

bool NoGcGate::is_closed() noexcept {
  if (open_.load(std::memory_order_acquire) == 0) return false;
  const std::scoped_lock lock(mutex_);
  return open_.load() != 0 && platform::monotonic_ns() < latest_deadline_ns_;
}

void NoGcGate::wait() noexcept {
  while (open_.load(std::memory_order_acquire) != 0) {
    std::uint32_t open = 0;
    std::uint64_t left_ns = 0;
    {
      const std::scoped_lock lock(mutex_);
      open = open_.load();
      const std::uint64_t now = platform::monotonic_ns();
      if (open == 0) return;
      if (now >= latest_deadline_ns_) {
        break_all();
        return;
      }
      left_ns = latest_deadline_ns_ - now;
    }
    platform::futex_wait(open_, open, left_ns);
  }
}

void NoGcGate::break_all() noexcept {
  generation_.fetch_add(1, std::memory_order_release);
  overruns_.fetch_add(open_.load(), std::memory_order_relaxed);
  open_.store(0);
  platform::futex_wake_all(open_);
}

void NoGcGate::child_after_fork(bool own_scope) noexcept { open_.store(own_scope ? 1 : 0); }

}  // namespace fallow::detail
