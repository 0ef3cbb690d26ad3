#include "interpreter_gate.h"

#include <thread>

#include "fallow/thread_hooks.h"

namespace fallow::python {

std::atomic<SkipReason> InterpreterGate::closed_{SkipReason::kNone};
std::atomic<std::uint32_t> InterpreterGate::inside_{0};
std::atomic<bool> InterpreterGate::gone_{false};

SkipReason InterpreterGate::enter() noexcept {
  // Counted first, and only then looked: close() does the same the other way round.
  inside_.fetch_add(1, std::memory_order_seq_cst);
  const SkipReason reason = closed_.load(std::memory_order_seq_cst);
  if (reason != SkipReason::kNone) leave();
  return reason;
}

bool InterpreterGate::close(std::chrono::nanoseconds patience) noexcept {
  closed_.store(SkipReason::kFinalizing, std::memory_order_seq_cst);
  if (inside_.load(std::memory_order_seq_cst) == 0) return true;
  const BlockingScope detached;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (inside_.load(std::memory_order_acquire) != 0) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void InterpreterGate::forked() noexcept {
  // Those inside are threads that do not exist here.
  inside_.store(0, std::memory_order_relaxed);
  SkipReason open = SkipReason::kNone;
  closed_.compare_exchange_strong(open, SkipReason::kForked);
}

void InterpreterGate::repaired_after_fork() noexcept {
  SkipReason forked = SkipReason::kForked;
  closed_.compare_exchange_strong(forked, SkipReason::kNone);
}

}  // namespace fallow::python
