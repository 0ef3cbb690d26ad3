#pragma once

#include <cstddef>
#include <type_traits>

namespace fallow {

template <class T>
class Field;

namespace detail {

template <class T>
inline constexpr bool kIsField = false;
template <class T>
inline constexpr bool kIsField<Field<T>> = true;

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

/// Elements of a type: one, or those of an array of whatever dimensions.
template <class T>
consteval std::size_t element_count() {
  if constexpr (std::is_array_v<T>) {
    return std::extent_v<T> * element_count<std::remove_extent_t<T>>();
  } else {
    return 1;
  }
}

/// Fields in a reference member: one, or as many as an array of Fields has.
template <class Base, class Member>
consteval std::size_t field_count(Member Base::*) {
  static_assert(kIsField<std::remove_all_extents_t<Member>>,
                "a FieldList names members of type Field<T>, or arrays of them");
  return element_count<Member>();
}

/// Byte offset of a member of T (own or inherited), at compile time. Members must be aligned to 8.
template <class T, class Base, class Member>
consteval std::size_t offset_of_member(Member Base::* member) {
  const void* target = &(kUnconstructed<T>.object.*member);
  for (std::size_t offset = 0; offset < sizeof(T); offset += 8) {
    if (static_cast<const void*>(&kUnconstructed<T>.bytes[offset]) == target) return offset;
  }
  throw "the member is not at a multiple of 8 bytes";
}

}  // namespace detail
}  // namespace fallow
