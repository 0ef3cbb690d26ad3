#pragma once

#include <cstddef>

#include "fallow/detail/barrier.h"
#include "fallow/make.h"

namespace fallow {

/// Objects of types that were described at run time (TypeBuilder): created by allocate_object()
/// (fallow/make.h), accessed by byte offsets. Reference words must be written through
/// store_reference, which does what Field does; plain values may be written directly. O(1).
inline Ref<Object> load_reference(const Ref<Object>& holder, std::size_t offset) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(holder.get()) + offset;
  return Ref<Object>(reinterpret_cast<detail::Slot*>(address)->load(std::memory_order_relaxed));
}

inline void store_reference(const Ref<Object>& holder, std::size_t offset,
                            const Ref<Object>& value) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(holder.get()) + offset;
  detail::store_with_barrier(*reinterpret_cast<detail::Slot*>(address), value.get());
}

/// Refused: the holder may be looked up before the allocation in the arguments, which may move it.
template <class T>
void store_reference(const Ref<Object>&, std::size_t, NewRef<T>&&) {
  static_assert(
      detail::kNever<T>,
      "store_reference(holder, offset, allocate_object(…)) may find the holder before the "
      "allocation moves it: store the new object in a Ref first");
}

}  // namespace fallow
