#include "profile/record/xxh3.h"

#define XXH_INLINE_ALL  // nothing to link with
#include <xxhash.h>

namespace fallow::profile {

std::uint64_t checksum(const void* first, std::size_t first_bytes, const void* second,
                       std::size_t second_bytes) noexcept {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, first, first_bytes);
  XXH3_64bits_update(&state, second, second_bytes);
  return XXH3_64bits_digest(&state);
}

}  // namespace fallow::profile
