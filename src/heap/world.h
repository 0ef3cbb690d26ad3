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

  /// Adds a mutator that does not run yet. Waits while the world is stopped.
  void add(MutatorState* state);
  /// Removes a mutator that does not run; before that, calls `hand_over` while no collection runs.
  void remove(MutatorState* state, const std::function<void()>& hand_over) noexcept;

  /// Those of a thread's mutators for which `enters` holds, all of them of this world, begin to
  /// run. Waits while the world is stopped. All or none at a time: a thread that waited for the
  /// second while the first runs would wait for a collector that waits for it.
  void enter(MutatorState* first_of_thread,
             const std::function<bool(const MutatorState&)>& enters) noexcept;
  /// A running mutator becomes `status`, which is another one: collections do not wait for it.
  void leave(MutatorState* state, MutatorState::Status status) noexcept;

  /// Stops all mutators; the calling thread has none that runs. False when another thread stopped
  /// the world since resume_count() was `since`: then it runs again at the return. Sets `waited_ns`
  /// to the time until the last mutator stopped.
  bool stop(std::uint32_t since, std::uint64_t* waited_ns) noexcept;
  void resume() noexcept;
  /// Cannot change while the calling thread has a running mutator here.
  [[nodiscard]] std::uint32_t resume_count() const noexcept {
    return resumes_.load(std::memory_order_acquire);
  }

  [[nodiscard]] bool stop_requested() const noexcept {
    return stop_requested_.load(std::memory_order_seq_cst);
  }

  /// Keeps the world from being stopped, for a thread that runs no managed code but looks at what
  /// collections change. Waits while it is stopped. Short: stops wait for its end, and
  /// stop_requested() asks for it.
  class Visit {
   public:
    explicit Visit(World& world) noexcept;
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    World& world_;
  };

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

  /// One that ran does so no longer.
  void count_out() noexcept;
  [[nodiscard]] std::uint64_t spin_ns() const noexcept;
  void wait_until_resumed(Lock& lock) noexcept;
  void wait_until_quiet(Lock& lock, std::uint64_t started_ns) noexcept;
  void report_stuck(std::uint64_t waited_ns) noexcept;

  platform::RankedMutex mutex_;
  std::vector<MutatorState*> mutators_;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> stop_requested_{false};
  std::atomic<std::uint32_t> running_{0};  ///< mutators in state kRunning and visits; a futex word
  std::atomic<std::uint32_t> resumes_{0};  ///< counts resumes; a futex word
  std::uint32_t waiters_ = 0;              ///< threads that wait for a resume
  const std::uint64_t stop_warning_ns_;
  const StuckReport report_;
};

}  // namespace fallow::detail
