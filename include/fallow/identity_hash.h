#pragma once

#include <cstdint>

#include "fallow/ref.h"

namespace fallow {

namespace detail {
std::uint64_t identity_hash(Object* object);
}  // namespace detail

/// A hash of the object's identity: the same as long as it lives, however it moves, and well spread
/// over all 64 bits. Two objects may have the same one, as with any hash.
///
/// Costs no memory for objects that are old, or that die young; an object that is asked while young
/// is promoted with 8 bytes more. O(1), does not collect. From the first call for a young object on
/// the heap holds half as much memory again ready for promotions as before; throws OutOfMemory if
/// there is none. Thread-safe. A Ref to nothing hashes to 0. After Bacon, Fink and Grove (2002).
template <class T>
[[nodiscard]] std::uint64_t identity_hash(const Ref<T>& object) {
  return detail::identity_hash(reinterpret_cast<Object*>(object.get()));
}

}  // namespace fallow
