// Cache description by the cpuid instruction: leaf 4 (Intel) and 0x8000001D (AMD), which share one
// layout.
#include "platform/cache_sources.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fallow::platform {
namespace {

constexpr uint32_t kIntelLeaf = 4;
constexpr uint32_t kExtendedBase = 0x80000000;
constexpr uint32_t kAmdLeaf = 0x8000001D;
constexpr uint32_t kMaxSubleaves = 16;  // a broken hypervisor may never report the end

constexpr uint32_t bits(uint32_t word, unsigned low, unsigned count) {
  return (word >> low) & ((uint32_t{1} << count) - 1);
}

void read_leaf(const CpuidSource& cpuid, uint32_t leaf, CacheFindings& found) {
  for (uint32_t subleaf = 0; subleaf < kMaxSubleaves; ++subleaf) {
    const CpuidRegisters words = cpuid(leaf, subleaf);
    const uint32_t type = bits(words.eax, 0, 5);
    if (type == 0) return;
    if (type != 1 && type != 3) continue;  // data or unified
    const uint64_t line = uint64_t{bits(words.ebx, 0, 12)} + 1;
    const uint64_t partitions = uint64_t{bits(words.ebx, 12, 10)} + 1;
    const uint64_t ways = uint64_t{bits(words.ebx, 22, 10)} + 1;
    const uint64_t sets = uint64_t{words.ecx} + 1;
    // At most 12 + 10 + 10 + 32 bits; 2^64 itself wraps to 0 and is dropped.
    found.note(bits(words.eax, 5, 3), line * partitions * ways * sets,
               size_t{bits(words.eax, 14, 12)} + 1);
  }
}

}  // namespace

CacheFindings caches_from_cpuid(const CpuidSource& cpuid) {
  CacheFindings found;
  if (!cpuid) return found;
  if (cpuid(0, 0).eax >= kIntelLeaf) read_leaf(cpuid, kIntelLeaf, found);
  if (found[CacheLevel::kL1d].bytes != 0) return found;
  const uint32_t extended = cpuid(kExtendedBase, 0).eax;
  if (extended < kAmdLeaf) return found;
  constexpr unsigned kTopologyExtensions = 22;
  if (bits(cpuid(kExtendedBase + 1, 0).ecx, kTopologyExtensions, 1) == 0) return found;
  read_leaf(cpuid, kAmdLeaf, found);
  return found;
}

#if defined(__x86_64__)

CpuidSource native_cpuid() {
  return [](uint32_t leaf, uint32_t subleaf) {
    CpuidRegisters words;
    __cpuid_count(leaf, subleaf, words.eax, words.ebx, words.ecx, words.edx);
    return words;
  };
}

#else

CpuidSource native_cpuid() { return {}; }

#endif

}  // namespace fallow::platform
