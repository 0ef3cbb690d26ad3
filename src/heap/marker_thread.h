#pragma once

#include <atomic>
#include <cstdint>

#include "platform/helper_thread.h"

namespace fallow::detail {

class HeapCore;

/// A thread that marks for one heap while its mutators run (HeapOptions::marker_threads).
///
/// It holds a visit of the world while it marks, so that the collector and it never work at the
/// same time; it ends the visit within some ten microseconds when a stop is requested, and marks on
/// when the world has been resumed. Old values noted by write barriers are collected, and marking
/// is finished, in pauses. Started by the first cycle; sleeps while there is nothing for it.
class MarkerThread {
 public:
  explicit MarkerThread(HeapCore& core) noexcept : core_(core) {}
  /// Waits for the end of the thread; no cycle is worked on meanwhile.
  ~MarkerThread();
  MarkerThread(const MarkerThread&) = delete;
  MarkerThread& operator=(const MarkerThread&) = delete;

  /// At the end of a pause, the world still stopped: there is something to mark. Without effect
  /// where no such thread runs: in the child of a fork, or when the system refuses it.
  void notify() noexcept;

  void child_after_fork() noexcept;

 private:
  enum State : std::uint32_t { kNotStarted, kAsleep, kAwake, kEnding, kAbsent };

  static void run(void* self);
  void mark_until_asleep();
  /// Until the world is to be stopped, or there is nothing left for this thread.
  void visit();

  HeapCore& core_;
  platform::JoinedThread thread_;
  /// A futex word. Left kAwake and kAsleep by notify() and visit(), which exclude each other.
  std::atomic<std::uint32_t> state_{kNotStarted};
};

}  // namespace fallow::detail
