#pragma once

#include <cstddef>

namespace fallow::detail {

/// Storage that holds a T without constructing it, so that addresses of its members can be compared
/// with addresses of its bytes in a constant expression.
template <class T>
union UnconstructedStorage {
  char nothing;  // the active member: nothing else is initialised, however large T is
  char bytes[sizeof(T)];
  T object;
  constexpr UnconstructedStorage() : nothing() {}
  constexpr ~UnconstructedStorage() {}
};

template <class T>
inline constexpr UnconstructedStorage<T> kUnconstructed{};

/// Byte offset of a member of T (own or inherited), at compile time. Members must be aligned to 8.
template <class T, class Base, class Member>
consteval std::size_t offset_of_member(Member Base::* member) {
  const void* target = &(kUnconstructed<T>.object.*member);
  for (std::size_t offset = 0; offset < sizeof(T); offset += 8) {
    if (static_cast<const void*>(&kUnconstructed<T>.bytes[offset]) == target) return offset;
  }
  throw "the member is not at a multiple of 8 bytes";
}

}  // namespace fallow::detail
