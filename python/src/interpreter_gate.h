#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "fallow/pressure.h"

namespace fallow::python {

/// Who may still enter the main interpreter. Threads that enter through the gate are counted; the
/// interpreter's exit hook closes it and waits for those inside, so that none of them can meet a
/// finalizing interpreter, which ends or freezes a thread that comes too late. All static: there is
/// one main interpreter in a process. Thread-safe, lock-free.
class InterpreterGate {
 public:
  /// SkipReason::kNone: the caller is inside and calls leave() later. Else why it may not enter.
  static SkipReason enter() noexcept;
  static void leave() noexcept { inside_.fetch_sub(1, std::memory_order_release); }

  /// Nobody enters any more; waits for those inside, at most so long. False when some stayed.
  static bool close(std::chrono::nanoseconds patience) noexcept;
  /// The C library's fork() leaves an interpreter that may not be used, …
  static void forked() noexcept;
  /// … until Python has repaired it, as os.fork() does.
  static void repaired_after_fork() noexcept;

  [[nodiscard]] static bool closed() noexcept {
    return closed_.load(std::memory_order_acquire) != SkipReason::kNone;
  }

  /// The interpreter is gone: not even the state of threads may be looked at.
  static void note_gone() noexcept { gone_.store(true, std::memory_order_release); }
  static bool gone() noexcept { return gone_.load(std::memory_order_acquire); }

 private:
  static std::atomic<SkipReason> closed_;
  static std::atomic<std::uint32_t> inside_;
  static std::atomic<bool> gone_;
};

}  // namespace fallow::python
