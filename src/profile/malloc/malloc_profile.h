#pragma once

#include <cstddef>

#include "profile/malloc/block_table.h"
#include "profile/malloc/malloc_sampler.h"
#include "profile/record/thread_context.h"

namespace fallow::profile {

/// What the replaced malloc and free do beside allocating.
///
/// Thread-safe, and usable from the first instruction of the process on.
class MallocProfile {
 public:
  /// Of a block that has just been allocated, null if that failed. `caller` is the frame address of
  /// the function that the program has called.
  static void note_allocated(const void* block, std::size_t bytes, const void* caller) noexcept {
    MallocSampler& own = sampler;
    if (own.passes(bytes == 0 ? 1 : bytes)) [[likely]]
      return;
    decide(block, bytes == 0 ? 1 : bytes, caller);
  }
  /// Before a block is given back.
  static void note_freed(const void* block) noexcept {
    if (const SampleId id = table.remove(block); id != 0) [[unlikely]]
      tell_freed(id);
  }
  /// The same for a block that may have to come back: the id to give to restore(), or 0.
  static SampleId take_out(const void* block) noexcept { return table.remove(block); }
  static void restore(const void* block, SampleId id) noexcept;
  static void tell_freed(SampleId id) noexcept;

  /// From now on there is a recording to ask.
  static void begin() noexcept;

 private:
  static void decide(const void* block, std::size_t bytes, const void* caller) noexcept;

  static BlockTable table;
  static thread_local constinit MallocSampler sampler [[gnu::tls_model("initial-exec")]];
};

}  // namespace fallow::profile
