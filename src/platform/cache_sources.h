// The two places that describe caches. Absurd sizes are dropped here, value by value, so that one
// wrong core does not hide the others; cache_sizes.h decides between the sources. Not meant for
// other users.
//
// Units: bytes; 0 means that the source does not tell. Thread-safety: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "platform/cache_sizes.h"

namespace fallow::platform {

enum class CacheLevel : size_t { kL1d, kL2, kL3 };
inline constexpr std::array<CacheLevel, 3> kCacheLevels = {CacheLevel::kL1d, CacheLevel::kL2,
                                                           CacheLevel::kL3};

struct CacheFinding {
  uint64_t bytes = 0;
  size_t shared_by = 1;
};

// The smallest sensible cache found for each level.
class CacheFindings {
 public:
  CacheFinding& operator[](CacheLevel level) { return findings_[static_cast<size_t>(level)]; }
  const CacheFinding& operator[](CacheLevel level) const {
    return findings_[static_cast<size_t>(level)];
  }
  // Notes a cache; levels other than 1 to 3 and implausible sizes are ignored.
  void note(uint64_t level, uint64_t bytes, size_t shared_by);

 private:
  std::array<CacheFinding, 3> findings_;
};

CacheFindings caches_from_sysfs(const std::string& sysfs_root);
CacheFindings caches_from_cpuid(const CpuidSource& cpuid);

// Whether a size can be true of a cache of this level.
bool plausible_cache(CacheLevel level, uint64_t bytes);

}  // namespace fallow::platform
