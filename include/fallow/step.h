#pragma once

#include <cstddef>
#include <cstdint>

namespace fallow {

/// Where a heap's full collection stands.
enum class CycleState : std::uint8_t {
  kIdle,     ///< none is under way
  kMarking,  ///< looking for live objects; what was reachable when it began survives
  /// Weak references to dead objects are cleared, dead objects with finalizers kept, destructors
  /// run. Passed over by heaps without any.
  kFinalizing,
  kSweeping  ///< dead objects are known; their memory is being made free
};

/// What one call of Heap::step did.
struct StepResult {
  CycleState before = CycleState::kIdle;
  CycleState after = CycleState::kIdle;
  std::size_t marked_bytes = 0;  ///< of objects in the old space, in this step
  std::size_t swept_blocks = 0;  ///< in this step
  /// Estimates of what is left until the cycle ends, from the live bytes of the last one.
  std::size_t remaining_mark_bytes = 0;
  std::size_t remaining_blocks = 0;
  std::uint64_t cpu_ns = 0;   ///< of the calling thread
  std::uint64_t wall_ns = 0;  ///< all mutators stopped
  bool cycle_ended = false;   ///< everything is swept: the next step begins a new cycle
};

}  // namespace fallow
