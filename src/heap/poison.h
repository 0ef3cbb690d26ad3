#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fallow::detail {

/// Unused memory in checked runs holds this byte: as a pointer it lies outside the user address
/// space, so that following one faults.
inline constexpr unsigned char kPoisonByte = 0xF5;

inline void fill_with_poison(std::uintptr_t start, std::size_t bytes) noexcept {
  std::memset(reinterpret_cast<void*>(start), kPoisonByte, bytes);
}

}  // namespace fallow::detail
