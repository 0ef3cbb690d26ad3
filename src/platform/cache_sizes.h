// Sizes of the data caches that one core sees, for choosing the nursery size.
//
// Sources, tried for each level separately: the kernel's cache description below /sys, the cpuid
// instruction (x86-64 only), a fixed assumption. A value that is missing, malformed or absurd is
// rejected on its own and the next source is asked. Where cores differ, the smallest size of each
// level over the online cores is taken, since a thread may run on any of them.
//
// Accepted ranges: l1d 4 KiB .. 1 MiB, l2 64 KiB .. 64 MiB and not below l1d, l3 at most 4 GiB and
// not below l2 (anything smaller counts as missing). When l2 < l1d one of the two is wrong, and
// both are rejected.
//
// Units: bytes. Errors: none; there is always an answer, and every field is non-zero.
// Thread-safety: may be called from any thread; reads files, so call it once at start-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace fallow::platform {

struct CacheSizes {
  // In order of decreasing trust.
  enum class Source { kSysfs, kCpuid, kFallback };

  size_t l1d = 32 * 1024;       // level 1, data or unified
  size_t l2 = 256 * 1024;       // level 2, the whole cache
  size_t l3 = 4 * 1024 * 1024;  // level 3, the whole cache; assumed where the machine shows none
  Source source = Source::kFallback;  // the least trusted source among those of l1d and l2

  size_t l2_shared_by = 1;  // CPUs that share the level 2 cache, 1 when unknown
  size_t l3_shared_by = 1;  // CPUs that share the level 3 cache, 1 when unknown
  Source l3_source = Source::kFallback;

  // For the log, for example "l1d 32 KiB, l2 512 KiB, l3 32 MiB (sysfs; l3 sysfs)".
  std::string to_string() const;
};

const char* to_string(CacheSizes::Source source);

struct CpuidRegisters {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// Executes cpuid for a leaf and subleaf. An empty function means that there is no such instruction.
using CpuidSource = std::function<CpuidRegisters(uint32_t leaf, uint32_t subleaf)>;

// The instruction of the machine; empty except on x86-64.
CpuidSource native_cpuid();

// `sysfs_root` holds devices/system/cpu/...; a test passes a recorded tree.
CacheSizes detect_cache_sizes(const std::string& sysfs_root = "/sys");

// The same with a chosen cpuid, for tests.
CacheSizes detect_cache_sizes(const std::string& sysfs_root, const CpuidSource& cpuid);

}  // namespace fallow::platform
