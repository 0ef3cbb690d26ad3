#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "heap/mutator_state.h"
#include "platform/ranked_mutex.h"

namespace fallow::detail {

/// The mutators of a heap, and the protocol that stops and resumes them.
///
/// A stopper sets the stop flag, then stores zero in the limit of each running mutator and waits
/// until none runs. A mutator that re-arms its limit exchanges it atomically and then looks at the
/// flag again (DESIGN H2): either it sees the flag, or its limit is zeroed after the exchange.
/// Waits spin for a moment, since a stop usually lasts microseconds, then sleep in the kernel.
class World {
 public:
  using StuckReport = std::function<void(const MutatorState&, std::uint64_t waited_ns)>;

  World(std::uint64_t stop_warning_ns, StuckReport report);

  /// Adds a mutator as running. Waits while the world is stopped.
  void attach(MutatorState* state);
  /// Removes it; before that, calls `hand_over` while no collection runs.
  void detach(MutatorState* state, const std::function<void()>& hand_over) noexcept;

  /// Throws UsageError if it is parked already.
  void park(MutatorState* state);
  void unpark(MutatorState* state) noexcept;

  /// Stops all mutators but `self` (which may be null: a thread without a running mutator). False
  /// when another thread stopped the world first: then its collection is over at the return, and
  /// nothing is stopped. Sets `waited_ns` to the time until the last one stopped.
  bool stop(MutatorState* self, std::uint64_t* waited_ns);
  void resume(MutatorState* self) noexcept;

  /// A running mutator obeys a stop request: waits until the world is resumed.
  void safepoint(MutatorState* state) noexcept;
  [[nodiscard]] bool stop_requested() const noexcept {
    return stop_requested_.load(std::memory_order_seq_cst);
  }

  /// Only while the world is stopped, or under mutex().
  [[nodiscard]] const std::vector<MutatorState*>& mutators() const noexcept { return mutators_; }
  [[nodiscard]] std::size_t mutator_count() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }

  /// Fork: the caller has stopped the world; holds the mutex …
  void prepare_fork();
  void parent_after_fork() noexcept;
  /// … and in the child forgets the mutators of threads that no longer exist; calls drop for each.
  void child_after_fork(const MutatorState* first_of_thread,
                        const std::function<void(MutatorState*)>& drop);

 private:
  using Lock = std::unique_lock<platform::RankedMutex>;

  void wait_until_resumed(Lock& lock) noexcept;
  void wait_until_quiet(Lock& lock, std::uint64_t started_ns);
  void not_running_any_more() noexcept;
  void report_stuck(std::uint64_t waited_ns);

  platform::RankedMutex mutex_;
  std::vector<MutatorState*> mutators_;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> stop_requested_{false};
  std::atomic<std::uint32_t> running_{0};  ///< mutators in state kRunning; a futex word
  std::atomic<std::uint32_t> resumes_{0};  ///< counts resumes; a futex word
  std::uint32_t waiters_ = 0;              ///< threads that wait for a resume
  const std::uint64_t stop_warning_ns_;
  const StuckReport report_;
};

}  // namespace fallow::detail
