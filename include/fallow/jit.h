#pragma once

#include <cstddef>
#include <cstdint>

#include "fallow/detail/size_classes.h"
#include "fallow/mutator.h"
#include "fallow/object.h"

namespace fallow::jit {

/// What generated code may rely on. The version changes whenever any of it does.
///
/// Allocation of `n` bytes (n a multiple of 8, 16 ≤ n ≤ kMaxInlineBytes):
///     start = mutator->free; next = start + n;
///     if (next > mutator->limit) start = allocate(mutator, n);   // may collect
///     else mutator->free = next;
///     *(word*)start = address of the TypeDescriptor;
/// Comparisons are unsigned. The limit may become zero at any time: another thread wants to stop
/// this one, and the next allocation or poll obeys. It may also lie at an object that is to be
/// sampled; the slow path tells all these apart. The header is stored before the next allocation or
/// poll, whose collection may ask for the type. A poll is `if (free > limit) poll(mutator)`.
inline constexpr std::uint32_t kLayoutVersion = 1;
inline constexpr std::size_t kFreeOffset = 0;
inline constexpr std::size_t kLimitOffset = 8;
inline constexpr std::size_t kHeaderOffset = 0;
inline constexpr std::size_t kMaxInlineBytes = detail::kMaxSmallBytes;

static_assert(detail::MutatorAccess::free_offset() == kFreeOffset);
static_assert(detail::MutatorAccess::limit_offset() == kLimitOffset);

/// The slow path for generated code: memory for `bytes`, header not yet written; never null. All
/// references must be in slots (Frame, RootProvider). Throws OutOfMemory through the caller's
/// frames.
inline std::uintptr_t allocate(Mutator& mutator, std::size_t bytes) {
  return detail::allocate_slow(mutator, bytes, kObjectGranule);
}
/// Serves a stop request.
inline void poll(Mutator& mutator) { mutator.poll(); }

}  // namespace fallow::jit
