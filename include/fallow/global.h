#pragma once

#include <cstddef>

#include "fallow/detail/barrier.h"
#include "fallow/ref.h"

namespace fallow {

class Heap;

namespace detail {
class HeapCore;
HeapCore& core_of(Heap& heap) noexcept;
/// A root cell owned by the heap. Throws std::bad_alloc.
Slot* acquire_global_cell(HeapCore& core);
void release_global_cell(HeapCore& core, Slot* cell) noexcept;
}  // namespace detail

/// A root that is not tied to a scope or thread: static data, caches, handles held by foreign code.
///
/// Creating and destroying take a lock; loads and stores do not, but a thread needs a running
/// Mutator of the heap to use the value. A minor collection looks at Globals only where they were
/// assigned since the last one. Must be destroyed before its heap.
template <class T>
class Global {
 public:
  explicit Global(Heap& heap)
      : core_(detail::core_of(heap)), cell_(detail::acquire_global_cell(core_)) {}
  Global(Heap& heap, const Ref<T>& value) : Global(heap) { *this = value; }
  ~Global() { detail::release_global_cell(core_, cell_); }
  Global(const Global&) = delete;
  /// The value, not the cell.
  Global& operator=(const Global& other) noexcept {  // NOLINT(bugprone-unhandled-self-assignment)
    return *this = other.get();
  }

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
  friend bool operator==(const Global& global, std::nullptr_t) noexcept { return !global; }

 private:
  T* pointer() const noexcept {
    return reinterpret_cast<T*>(cell_->load(std::memory_order_relaxed));
  }

  detail::HeapCore& core_;
  detail::Slot* cell_;
};

}  // namespace fallow
