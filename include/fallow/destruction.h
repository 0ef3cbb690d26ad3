#pragma once

#include <cstdint>
#include <type_traits>

#include "fallow/object.h"

namespace fallow {

/// When and where the destructor of a managed type runs.
///
/// A type that owns something outside of the heap (memory of malloc, a file, a Charge of a Ledger)
/// may have a destructor if it announces it:
///
///     struct Texture : fallow::Object {
///       static constexpr auto kDestruction = fallow::Destruction::kWhenDead;
///       ~Texture() { std::free(pixels); }
///       void* pixels;
///       using Fields = fallow::FieldList<>;
///     };
///
/// It runs once for each object whose constructor returned: at the minor collection for an object
/// that dies young, in a slice of the full collection that found it dead otherwise, and at the end
/// of the heap for all that are left. Mutators are stopped meanwhile. It must be short, must not
/// throw, and must not touch managed objects or the heap, since what the object refers to may be
/// gone: a checked build stops the program. Objects are moved by copying their bytes, so members
/// must not refer to themselves. An object costs an entry of 32 bytes outside the heap.
///
/// What needs other managed objects, or may take long, is the business of a FinalizerQueue.
enum class Destruction : std::uint8_t {
  kNone,
  kWhenDead,
  /// The same, but it may run on the reclaimer thread, on a copy of the object's bytes, so that no
  /// pause waits for it. Where there is no such thread, or no memory for the copy, as kWhenDead.
  kOnReclaimer
};

namespace detail {

template <class T>
concept AnnouncesDestructor = requires { Destruction(T::kDestruction); };

template <class T>
constexpr Destruction destruction_of() noexcept {
  if constexpr (AnnouncesDestructor<T> && !std::is_trivially_destructible_v<T>) {
    return T::kDestruction;
  } else {
    return Destruction::kNone;
  }
}

template <class T>
void destroy_object(Object* object) noexcept {
  static_cast<T*>(object)->~T();
}

}  // namespace detail
}  // namespace fallow
