#pragma once

#include <cstddef>
#include <cstdint>

namespace fallow::profile {

/// XXH3, 64 bits, seed 0, of two pieces as if they were one. Pure function.
std::uint64_t checksum(const void* first, std::size_t first_bytes, const void* second,
                       std::size_t second_bytes) noexcept;

}  // namespace fallow::profile
