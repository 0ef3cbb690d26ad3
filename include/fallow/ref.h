#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "fallow/detail/build_config.h"
#include "fallow/object.h"

namespace fallow {

namespace detail {

/// The number of collections so far of the heap that owns `object`; 0 for null. Checked builds
/// only.
std::uint64_t collection_epoch(const Object* object) noexcept;

/// Stops the program: a Ref was used after a collection. Names the allocation that collected.
[[noreturn, gnu::cold]] void stale_reference(const Object* object,
                                             std::uint64_t created_at) noexcept;

/// Checked builds: stops the program if the object is gone, as one that a collection has moved
/// while the arguments of a call on it were computed.
void check_not_moved(const Object* object) noexcept;

/// In checked builds the epoch in which a Ref was made; nothing at all in release builds.
template <bool Checked>
class EpochStamp {
 public:
  constexpr EpochStamp() noexcept = default;
  explicit EpochStamp(const Object* object) noexcept : epoch_(collection_epoch(object)) {}
  void check(const Object* object) const noexcept {
    if (object != nullptr && epoch_ != collection_epoch(object)) stale_reference(object, epoch_);
  }

 private:
  std::uint64_t epoch_ = 0;
};

template <>
class EpochStamp<false> {
 public:
  constexpr EpochStamp() noexcept = default;
  explicit EpochStamp(const Object*) noexcept {}
  void check(const Object*) const noexcept {}
};

}  // namespace detail

/// An unrooted view of a managed object; may be null.
///
/// A Ref is valid until the next point at which the current thread may collect: an allocation, a
/// poll, a park. To keep an object across such a point, hold it in a Local, or name the Ref in
/// live(...) at the allocation. Checked builds stop at the first use of a stale Ref and name the
/// allocation that made it stale; release builds do not check. Costs nothing over a pointer in
/// release builds. Copying is thread-safe, as for a pointer.
template <class T>
class Ref {
 public:
  constexpr Ref() noexcept = default;
  constexpr Ref(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)
  explicit Ref(T* object) noexcept : object_(object), stamp_(as_object(object)) {}
  template <class U>
    requires std::derived_from<U, T>
  Ref(const Ref<U>& other) noexcept  // NOLINT(google-explicit-constructor)
      : object_(other.object_), stamp_(other.stamp_) {}

  /// The object as a plain pointer, under the same rules of validity.
  [[nodiscard]] T* get() const noexcept {
    stamp_.check(as_object(object_));
    return object_;
  }
  T* operator->() const noexcept { return get(); }
  T& operator*() const noexcept { return *get(); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

  /// Identity: do both refer to the same object?
  template <class U>
  friend bool operator==(const Ref& left, const Ref<U>& right) noexcept {
    return static_cast<const void*>(left.get()) == static_cast<const void*>(right.get());
  }
  friend bool operator==(const Ref& left, std::nullptr_t) noexcept {
    return left.object_ == nullptr;
  }

 private:
  template <class U>
  friend class Ref;

  static Object* as_object(T* object) noexcept {
    return reinterpret_cast<Object*>(const_cast<std::remove_const_t<T>*>(object));
  }

  T* object_ = nullptr;
  [[no_unique_address]] detail::EpochStamp<detail::kChecked> stamp_;
};

namespace detail {
/// For static_asserts in templates that refuse every use.
template <class>
inline constexpr bool kNever = false;
}  // namespace detail

/// What an allocation returns: a Ref by another name, so that calls in which it would be created
/// too late can be refused (see Array::set). Store it in a Ref, a Local or a Field.
template <class T>
class NewRef : public Ref<T> {
 public:
  explicit NewRef(T* object) noexcept : Ref<T>(object) {}
};

}  // namespace fallow
