#pragma once

#include <cstddef>

#include "fallow/detail/barrier.h"
#include "fallow/ref.h"

namespace fallow {

class Heap;

namespace detail {
class HeapCore;
/// A root cell owned by the heap. Throws std::bad_alloc.
Slot* acquire_global_cell(Heap& heap);
void release_global_cell(Heap& heap, Slot* cell) noexcept;
}  // namespace detail

/// A root that is not tied to a scope or thread: static data, caches, handles held by foreign code.
///
/// Creating and destroying take a lock; loads and stores do not, but a thread needs a running
/// Mutator of the heap to use the value. A minor collection looks at Globals only where they were
/// assigned since the last one. Must be destroyed before its heap.
template <class T>
class Global {
 public:
  explicit Global(Heap& heap) : heap_(heap), cell_(detail::acquire_global_cell(heap)) {}
  Global(Heap& heap, const Ref<T>& value) : Global(heap) { *this = value; }
  ~Global() { detail::release_global_cell(heap_, cell_); }
  Global(const Global&) = delete;
  Global& operator=(const Global&) = delete;

  Global& operator=(const Ref<T>& value) noexcept {
    detail::store_with_barrier(*cell_, reinterpret_cast<Object*>(value.get()));
    return *this;
  }
  Global& operator=(std::nullptr_t) noexcept {
    detail::store_with_barrier(*cell_, nullptr);
    return *this;
  }
  [[nodiscard]] Ref<T> get() const noexcept { return Ref<T>(pointer()); }
  operator Ref<T>() const noexcept { return get(); }  // NOLINT(google-explicit-constructor)
  T* operator->() const noexcept { return pointer(); }
  T& operator*() const noexcept { return *pointer(); }
  explicit operator bool() const noexcept { return pointer() != nullptr; }

 private:
  T* pointer() const noexcept {
    return reinterpret_cast<T*>(cell_->load(std::memory_order_relaxed));
  }

  Heap& heap_;
  detail::Slot* cell_;
};

}  // namespace fallow
