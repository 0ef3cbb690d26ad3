#pragma once

#include <atomic>
#include <cstdint>

#include "fallow/object.h"

namespace fallow::detail {

/// One slot of the heap that refers to an object.
using Slot = std::atomic<Object*>;
static_assert(sizeof(Slot) == sizeof(Object*));

/// The address range that barriers compare against. All nurseries of the process lie in
/// [base, base + nursery_span); young large objects lie between that and base + record_span.
/// While any heap marks, record_span is the largest number, so that one compare sends every store
/// into an object outside the nursery (also a store of null) to the slow path.
struct BarrierRange {
  std::uintptr_t base = 0;
  std::uintptr_t nursery_span = 0;
  std::atomic<std::uintptr_t> record_span{0};
};
extern constinit BarrierRange g_barrier_range;

inline bool in_nursery(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) - g_barrier_range.base <
         g_barrier_range.nursery_span;
}

/// Records an old slot that now refers to a young object and shades what marking must not lose.
/// Not marked as cold: programs that store into old objects come here often.
[[gnu::noinline]] void record_store(Slot* slot, Object* overwritten, Object* value) noexcept;

/// The write barrier (DESIGN H6): store, then leave the fast path only when an object outside the
/// nursery receives a reference to a young one, or while marking is active. The store is a release
/// for a marker thread that finds a new large object in the slot.
inline void store_with_barrier(Slot& slot, Object* value) noexcept {
  Object* const overwritten = slot.load(std::memory_order_relaxed);
  slot.store(value, std::memory_order_release);
  if (reinterpret_cast<std::uintptr_t>(value) - g_barrier_range.base <
          g_barrier_range.record_span.load(std::memory_order_relaxed) &&
      !in_nursery(&slot)) [[unlikely]] {
    record_store(&slot, overwritten, value);
  }
}

}  // namespace fallow::detail
