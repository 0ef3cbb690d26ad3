#pragma once

#include <cstddef>

#include "platform/cache_sizes.h"

namespace fallow::detail {

/// The default nursery for a machine: a quarter of the last level cache, between 1 and 8 MiB. The
/// measurements behind it are in docs/design/nursery-size.md.
std::size_t default_nursery_bytes(const platform::CacheSizes& caches) noexcept;

}  // namespace fallow::detail
