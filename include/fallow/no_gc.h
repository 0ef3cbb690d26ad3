#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "fallow/mutator.h"

namespace fallow {

/// What happened in a NoGc scope.
struct NoGcReport {
  std::size_t allocated_bytes = 0;  ///< by this mutator in the nursery, alignment included
  std::uint64_t wall_ns = 0;
  /// The scope was over before its end: the program allocated more than it had announced, or the
  /// deadline passed while another thread needed a collection.
  bool overrun = false;
};

/// While one exists there is no collection of the heap, of no kind, in no thread.
///
///     {
///       fallow::NoGc scope(mutator, 64 << 10, std::chrono::milliseconds(2));
///       answer(request);             // allocates at most 64 KiB
///     }
///
/// The room is made sure of on entry, by a minor collection if need be, or the scope is refused.
/// Threads that need a collection meanwhile wait for the end of the scope, or until its deadline
/// has passed. What is allocated beyond `bytes` may end the scope early, which the report tells and
/// the statistics count; Refs stay valid until then. Objects above 8 KiB do not count. Explicit
/// collections and steps by the same thread throw UsageError. Nests: the inner scope takes its
/// bytes from what the outer one announced. Begins and ends on the mutator's thread. O(1) but for
/// the collection.
class NoGc {
 public:
  /// Throws UsageError when `bytes` can never be promised (more than half of the nursery; more than
  /// the outer scope has left), and OutOfMemory when there is no memory for the survivors.
  NoGc(Mutator& mutator, std::size_t bytes,
       std::chrono::nanoseconds deadline = std::chrono::milliseconds(100));
  ~NoGc();
  NoGc(const NoGc&) = delete;
  NoGc& operator=(const NoGc&) = delete;

  /// How it went so far.
  [[nodiscard]] NoGcReport report() const noexcept;

 private:
  Mutator& mutator_;
  std::uintptr_t free_at_entry_;
  std::uint64_t entered_ns_;
};

}  // namespace fallow
