#include "heap/nursery_size.h"

#include <algorithm>

namespace fallow::detail {

namespace {
constexpr std::size_t kSmallest = std::size_t{1} << 20;
constexpr std::size_t kLargest = std::size_t{8} << 20;
}  // namespace

std::size_t default_nursery_bytes(const platform::CacheSizes& caches) noexcept {
  const std::size_t last_level = std::max(caches.l3, caches.l2);
  return std::clamp(last_level / 4 & ~(kSmallest - 1), kSmallest, kLargest);
}

}  // namespace fallow::detail
