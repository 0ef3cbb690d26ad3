#pragma once

namespace fallow::detail {

struct MutatorState;

/// For the time of a wait, takes the calling thread out of every heap in which it has a running
/// mutator, so that collections of none of them wait for it; every Ref of the thread may be stale
/// afterwards.
///
/// The thread comes back into heap after heap in the order of their creation, with all its mutators
/// of a heap at once, and forks stop heaps in that order. So a thread that waits for a heap runs
/// only in older ones, a thread that stops a heap runs nowhere, and there is no cycle of waits. One
/// within another does nothing.
class ThreadAbsence {
 public:
  /// `newcomer`, if any, is a mutator of the thread that does not run yet: it comes in as well.
  explicit ThreadAbsence(MutatorState* newcomer = nullptr) noexcept;
  ~ThreadAbsence();
  ThreadAbsence(const ThreadAbsence&) = delete;
  ThreadAbsence& operator=(const ThreadAbsence&) = delete;

 private:
  [[nodiscard]] bool waits(const MutatorState& state) const noexcept;
  /// Of the oldest heap that the thread is not back in.
  [[nodiscard]] MutatorState* next_to_enter() const noexcept;

  MutatorState* const newcomer_;
  bool returns_;
};

}  // namespace fallow::detail
