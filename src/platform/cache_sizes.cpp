#include "platform/cache_sizes.h"

#include "platform/cache_sources.h"

namespace fallow::platform {
namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

// Removes a pair that cannot be right.
CacheFindings consistent(CacheFindings found) {
  CacheFinding& l1d = found[CacheLevel::kL1d];
  CacheFinding& l2 = found[CacheLevel::kL2];
  if (l2.bytes != 0 && l2.bytes < l1d.bytes) {
    l1d = {};
    l2 = {};
  }
  return found;
}

struct Choice {
  CacheFinding finding;
  CacheSizes::Source source = CacheSizes::Source::kFallback;
};

Choice choose(CacheLevel level, const CacheFindings& sysfs, const CacheFindings& cpuid) {
  if (sysfs[level].bytes != 0) return {sysfs[level], CacheSizes::Source::kSysfs};
  if (cpuid[level].bytes != 0) return {cpuid[level], CacheSizes::Source::kCpuid};
  return {};
}

std::string in_units(size_t bytes) {
  if (bytes % kMiB == 0) return std::to_string(bytes / kMiB) + " MiB";
  return std::to_string(bytes / kKiB) + " KiB";
}

}  // namespace

const char* to_string(CacheSizes::Source source) {
  switch (source) {
    case CacheSizes::Source::kSysfs:
      return "sysfs";
    case CacheSizes::Source::kCpuid:
      return "cpuid";
    case CacheSizes::Source::kFallback:
      break;
  }
  return "assumed";
}

std::string CacheSizes::to_string() const {
  return "l1d " + in_units(l1d) + ", l2 " + in_units(l2) + ", l3 " + in_units(l3) + " (" +
         platform::to_string(source) + "; l3 " + platform::to_string(l3_source) + ")";
}

CacheSizes detect_cache_sizes(const std::string& sysfs_root) {
  return detect_cache_sizes(sysfs_root, native_cpuid());
}

CacheSizes detect_cache_sizes(const std::string& sysfs_root, const CpuidSource& cpuid) {
  const CacheFindings from_sysfs = consistent(caches_from_sysfs(sysfs_root));
  const CacheFindings from_cpuid = consistent(caches_from_cpuid(cpuid));
  const Choice l1d = choose(CacheLevel::kL1d, from_sysfs, from_cpuid);
  const Choice l2 = choose(CacheLevel::kL2, from_sysfs, from_cpuid);
  const Choice l3 = choose(CacheLevel::kL3, from_sysfs, from_cpuid);

  CacheSizes sizes;
  if (l1d.finding.bytes != 0) sizes.l1d = static_cast<size_t>(l1d.finding.bytes);
  if (l2.finding.bytes != 0) sizes.l2 = static_cast<size_t>(l2.finding.bytes);
  sizes.l2_shared_by = l2.finding.shared_by;
  sizes.source = l1d.source > l2.source ? l1d.source : l2.source;
  if (sizes.l2 < sizes.l1d) {  // from different sources, so neither can be trusted
    sizes = CacheSizes();
  }
  if (l3.finding.bytes >= sizes.l2) {
    sizes.l3 = static_cast<size_t>(l3.finding.bytes);
    sizes.l3_source = l3.source;
    sizes.l3_shared_by = l3.finding.shared_by;
  } else if (sizes.l3 < sizes.l2) {
    sizes.l3 = sizes.l2;
  }
  return sizes;
}

}  // namespace fallow::platform
