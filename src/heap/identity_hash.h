#pragma once

#include <cstdint>

#include "fallow/object.h"
#include "platform/split_mix.h"

namespace fallow::detail {

/// Objects that do not move any more hash by their address.
inline std::uint64_t hash_of_address(const Object* object) noexcept {
  return platform::mix_bits(reinterpret_cast<std::uintptr_t>(object));
}

/// Those in the nursery by address and collection epoch, since the next ones live at the same
/// addresses. Written behind the object when it is promoted.
inline std::uint64_t hash_of_young(const Object* object, std::uint64_t epoch) noexcept {
  return platform::mix_bits(reinterpret_cast<std::uintptr_t>(object) ^ epoch << 48 ^ epoch << 20);
}

}  // namespace fallow::detail
