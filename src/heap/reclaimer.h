#pragma once

namespace fallow::detail {

class HeapCore;

/// The thread of the process that hands free memory of all heaps back to the system once it has
/// been free for long enough (DESIGN H5). It is started when there is something to wait for, and
/// sleeps without a timer when there is nothing.
///
/// It works in batches of a few MiB. During a batch it holds the registry of heaps, so that forks
/// and the ends of heaps fall between batches; collections go on beside it, for it takes what it
/// works on out of the books first.
class Reclaimer {
 public:
  /// There is free memory that will be due. Starts or wakes the thread; costs one load when it is
  /// awake. False where it does not run: in the child of a fork, or when the system refuses.
  static bool notify() noexcept;
  /// Whether the thread runs, or has not been needed yet.
  static bool may_run() noexcept;

  /// Hands back all free memory of a heap, and all free pages of the process, now. The calling
  /// thread is absent from all heaps.
  static void hand_back_everything(HeapCore& core) noexcept;

  static void child_after_fork() noexcept;
};

}  // namespace fallow::detail
