#include "platform/cache_sources.h"

namespace fallow::platform {

bool plausible_cache(CacheLevel level, uint64_t bytes) {
  constexpr uint64_t kKiB = 1024;
  constexpr uint64_t kMiB = 1024 * kKiB;
  switch (level) {
    case CacheLevel::kL1d:
      return bytes >= 4 * kKiB && bytes <= kMiB;
    case CacheLevel::kL2:
      return bytes >= 64 * kKiB && bytes <= 64 * kMiB;
    case CacheLevel::kL3:
      return bytes > 0 && bytes <= 4096 * kMiB;
  }
  return false;
}

void CacheFindings::note(uint64_t level, uint64_t bytes, size_t shared_by) {
  if (level < 1 || level > kCacheLevels.size()) return;
  const CacheLevel which = kCacheLevels[level - 1];
  if (!plausible_cache(which, bytes)) return;
  CacheFinding& best = (*this)[which];
  if (best.bytes == 0 || bytes < best.bytes) best = {bytes, shared_by == 0 ? 1 : shared_by};
}

}  // namespace fallow::platform
