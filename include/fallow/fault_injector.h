#pragma once

#include <atomic>
#include <cstdint>

namespace fallow::device {

/// Which operations fail on purpose, for tests of programs that must survive it. The decision
/// depends on nothing but the plan and the order of the operations: a run with one thread can be
/// repeated exactly.
struct FaultPlan {
  std::uint64_t nth_allocation = 0;    ///< this allocation fails, counted from 1; 0: none
  std::uint64_t every_allocation = 0;  ///< each n-th allocation fails; 0: none
  std::uint64_t nth_byte = 0;     ///< the allocation that brings the sum of bytes to this; 0: none
  std::uint64_t nth_reserve = 0;  ///< this acquisition of a region is refused; 0: none
  /// Each allocation fails with this probability, drawn from `seed`.
  double probability = 0;
  std::uint64_t seed = 1;
  /// Only allocations of the thread with this system id count and fail; 0: of all threads.
  std::uint64_t thread = 0;
};

/// Decides which operations fail. Thread-safe; an empty plan costs a relaxed load.
class FaultInjector {
 public:
  FaultInjector() = default;
  /// Installs a plan and begins to count anew. No other thread may use the device meanwhile.
  void set(const FaultPlan& plan) noexcept;
  void clear() noexcept { set({}); }

  /// Whether this allocation is to fail.
  bool fails_allocation(std::uint64_t bytes) noexcept {
    return armed_.load(std::memory_order_relaxed) && decide_allocation(bytes);
  }
  /// Whether this acquisition of a region is to be refused.
  bool fails_reserve() noexcept;

  /// Operations that failed on purpose since set().
  [[nodiscard]] std::uint64_t injected() const noexcept {
    return injected_.load(std::memory_order_relaxed);
  }

 private:
  bool decide_allocation(std::uint64_t bytes) noexcept;

  FaultPlan plan_;
  std::atomic<bool> armed_{false};
  std::atomic<std::uint64_t> allocations_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> reserves_{0};
  std::atomic<std::uint64_t> injected_{0};
};

}  // namespace fallow::device
