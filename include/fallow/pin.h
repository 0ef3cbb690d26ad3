#pragma once

#include "fallow/global.h"
#include "fallow/mutator.h"

namespace fallow {

namespace detail {
/// Collects, so that what is young and referred to becomes old.
void promote_young(Mutator& mutator);
}  // namespace detail

/// An object with a fixed address, for code that knows nothing of the collector.
///
///     const Pin<Bytes> buffer(mutator, bytes);
///     read(file, buffer->data(), buffer->length());
///
/// Old and large objects never move, so pinning one only keeps it alive. A young object becomes old
/// first, by a minor collection: all Refs are stale afterwards. From then on it has its address for
/// life, with or without a Pin, so pinning it again costs nothing; its identity hash, finalizers
/// and weak references to it stay. Pins may be destroyed in any order and on any thread.
template <class T>
class Pin {
 public:
  /// May collect. Throws UsageError inside a NoGc scope if the object is young, and std::bad_alloc.
  Pin(Mutator& mutator, const Ref<T>& object) : global_(mutator.heap(), object) {
    if (detail::in_nursery(global_.get().get())) detail::promote_young(mutator);
    object_ = global_.get().get();
  }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

  /// The address: valid as long as the Pin exists. Other threads may use it, without a Mutator too,
  /// for members that are not references.
  [[nodiscard]] T* address() const noexcept { return object_; }
  [[nodiscard]] Ref<T> get() const noexcept { return global_.get(); }
  operator Ref<T>() const noexcept { return get(); }  // NOLINT(google-explicit-constructor)
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }

 private:
  Global<T> global_;
  T* object_;
};

}  // namespace fallow
