#pragma once

#include <cstddef>

#include "fallow/detail/barrier.h"
#include "fallow/ref.h"

namespace fallow {

/// A reference member of a managed object. Assignment does everything the collector needs:
///
///     node->left = child;      node->left = nullptr;      Ref<Node> left = node->left;
///
/// Loads and stores are relaxed atomics, so concurrent access is not undefined behaviour; ordering
/// between threads is the program's business. O(1). A Field is only used inside managed objects and
/// must be listed in the FieldList (or trace function) of its type. Initialising a Field in a
/// constructor needs no barrier, since the object is young then. The barrier is a snapshot-at-the-
/// beginning barrier (Yuasa 1990) joined with slot recording for young targets.
template <class T>
class Field {
 public:
  constexpr Field() noexcept : slot_(nullptr) {}
  constexpr Field(std::nullptr_t) noexcept : slot_(nullptr) {}            // NOLINT
  Field(const Ref<T>& value) noexcept : slot_(to_object(value.get())) {}  // NOLINT
  template <class Source>
    requires std::convertible_to<const Source&, Ref<T>>
  Field(const Source& value) noexcept : Field(static_cast<Ref<T>>(value)) {}  // NOLINT
  Field(const Field& other) noexcept : slot_(other.slot_.load(std::memory_order_relaxed)) {}

  Field& operator=(const Ref<T>& value) noexcept {
    detail::store_with_barrier(slot_, to_object(value.get()));
    return *this;
  }
  Field& operator=(std::nullptr_t) noexcept {
    detail::store_with_barrier(slot_, nullptr);
    return *this;
  }
  template <class Source>
    requires std::convertible_to<const Source&, Ref<T>>
  Field& operator=(const Source& value) noexcept {
    return *this = static_cast<Ref<T>>(value);
  }
  Field& operator=(const Field& other) noexcept {  // NOLINT(bugprone-unhandled-self-assignment)
    return *this = other.get();
  }

  [[nodiscard]] Ref<T> get() const noexcept { return Ref<T>(pointer()); }
  operator Ref<T>() const noexcept { return get(); }  // NOLINT(google-explicit-constructor)
  T* operator->() const noexcept { return pointer(); }
  T& operator*() const noexcept { return *pointer(); }
  explicit operator bool() const noexcept { return pointer() != nullptr; }
  friend bool operator==(const Field& field, std::nullptr_t) noexcept { return !field; }

  /// The slot as the collector sees it; for trace functions only.
  [[nodiscard]] Object** slot_address() noexcept { return reinterpret_cast<Object**>(&slot_); }

 private:
  static Object* to_object(T* value) noexcept { return reinterpret_cast<Object*>(value); }
  T* pointer() const noexcept {
    return reinterpret_cast<T*>(slot_.load(std::memory_order_relaxed));
  }

  detail::Slot slot_;
};

/// A template, so that comparisons of a Field with a Ref stay those of Refs.
template <class T>
bool operator==(const Field<T>& left, const Field<T>& right) noexcept {
  return left.get() == right.get();
}

}  // namespace fallow
