#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fallow::device {

/// How a free block is found inside a region.
enum class FitStrategy : std::uint8_t {
  /// Two-level segregated fit (Masmano, Ripoll, Crespo and Real, ECRTS 2004): O(1).
  kSegregated,
  kFirst,  ///< the lowest address that fits: O(blocks)
  kBest,   ///< the smallest block that fits: O(free blocks of about that size)
};

/// Which region serves a request that fits into several.
enum class RegionStrategy : std::uint8_t {
  kFillFirst,  ///< the fullest, so that others can become empty
  kBalanced,   ///< the emptiest
};

/// How a device behaves. Plain data; the constructor of Device checks it.
struct DeviceOptions {
  /// Offsets and sizes are multiples of it: a power of two, 16 … 1 MiB.
  std::size_t alignment = 128;
  /// Sizes of the regions to acquire; those beyond the limit are left out. Tried from the largest
  /// down to the request. Empty: the capacity of the domain, a half, a quarter and an eighth of it.
  std::vector<std::uint64_t> region_bytes{};
  /// The same for programs; empty: region_bytes.
  std::vector<std::uint64_t> program_region_bytes{};
  /// Regions of a domain, of all types together: 1 … 64.
  unsigned max_regions = 64;
  /// Bytes that regions of a domain may have together; 0: what the backend gives.
  std::uint64_t limit_bytes = 0;
  /// Bytes of each domain set aside for tensors that are asked for inside a responder or a
  /// collection, where nobody may reclaim or wait, so that finalizers which allocate can run while
  /// the device is full. Acquired with the first region, if the backend has them. Less than half of
  /// what the domain may have; 0: none.
  std::uint64_t emergency_bytes = 0;
  FitStrategy fit = FitStrategy::kSegregated;
  RegionStrategy regions = RegionStrategy::kFillFirst;

  /// How long a request may wait and reclaim before it fails.
  std::chrono::nanoseconds pressure_budget = std::chrono::seconds(10);
  /// Passes over all responders for one request, as long as each frees something: 1 … 100.
  unsigned max_rounds = 3;
  /// Calls of one responder in one pass, as long as each frees something: 1 … 100.
  unsigned max_attempts = 3;
  /// After a ladder that failed no other one is climbed until so much time has passed, or four
  /// times the time that it took, but not more than half of pressure_budget, … Requests of that
  /// time wait for its end. (0: every request may climb)
  std::chrono::nanoseconds damper_interval = std::chrono::milliseconds(10);
  /// … or so many bytes of the domain have been allocated or freed. 0: a 64th of the capacity.
  std::uint64_t damper_bytes = 0;
  /// Fractions of the domain's capacity. When an allocation leaves more than this in use,
  /// responders are called at PressureLevel::kSoft or kHard although nothing has failed. 0: never.
  double soft_watermark = 0;
  double hard_watermark = 0;
  /// The part of the wall time that responders called because of a watermark may take, 0.001 … 1.
  double watermark_share = 0.05;
};

}  // namespace fallow::device
