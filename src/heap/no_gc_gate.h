#pragma once

#include <atomic>
#include <cstdint>

#include "platform/ranked_mutex.h"

namespace fallow::detail {

/// Keeps collections out while NoGc scopes are open. Thread-safe.
class NoGcGate {
 public:
  NoGcGate() : mutex_(platform::LockRank::kNoGcGate, "no-GC gate") {}

  /// A scope begins; collections wait for its end, until `deadline_ns` on the monotonic clock.
  /// Returns the generation by which leave() knows whether the scope is still open.
  std::uint64_t enter(std::uint64_t deadline_ns) noexcept;
  /// A scope ends, before its time if `overrun`. Does nothing when it was over already.
  void leave(std::uint64_t generation, bool overrun) noexcept;
  /// Whether a scope that entered in `generation` is still open.
  [[nodiscard]] bool is_open(std::uint64_t generation) const noexcept {
    return generation_.load(std::memory_order_acquire) == generation;
  }
  /// For a thread that wants to collect: waits until no scope is open, or breaks those whose
  /// deadline has passed. The calling thread runs in no heap.
  void wait() noexcept;
  /// Whether a collection has to wait.
  [[nodiscard]] bool is_closed() noexcept;

  [[nodiscard]] std::uint64_t scopes() const noexcept {
    return scopes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t overruns() const noexcept {
    return overruns_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] platform::RankedMutex& mutex() noexcept { return mutex_; }
  /// In a fork child: the scopes of other threads are gone.
  void child_after_fork(bool own_scope) noexcept;

 private:
  void break_all() noexcept;

  platform::RankedMutex mutex_;
  std::atomic<std::uint32_t> open_{0};        ///< scopes; a futex word
  std::atomic<std::uint64_t> generation_{0};  ///< counts times when all open scopes were broken
  std::uint64_t latest_deadline_ns_ = 0;
  std::atomic<std::uint64_t> scopes_{0};
  std::atomic<std::uint64_t> overruns_{0};
};

}  // namespace fallow::detail
