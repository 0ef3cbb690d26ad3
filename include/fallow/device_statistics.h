#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fallow/device_types.h"

namespace fallow::device {

/// Allocations of one domain and type. Bytes are those of the blocks, after rounding up. The parts
/// of an interleaved allocation count one by one.
struct UsageStatistics {
  std::uint64_t current_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t total_bytes = 0;  ///< allocated so far
  std::uint64_t current_blocks = 0;
  std::uint64_t peak_blocks = 0;
  std::uint64_t total_blocks = 0;
  std::uint64_t regions = 0;
  std::uint64_t reserved_bytes = 0;  ///< in regions
  std::uint64_t free_bytes = 0;      ///< in regions
  std::uint64_t largest_free = 0;    ///< largest free block
  /// In the emergency reserve, which is part of none of the three above: its bytes, …
  std::uint64_t emergency_bytes = 0;
  std::uint64_t emergency_free_bytes = 0;  ///< … and the free ones
  std::uint64_t in_flight_bytes = 0;  ///< freed, and still used by a stream; part of current_bytes
  /// 1 - largest_free / free_bytes: 0 when all free memory is one block.
  [[nodiscard]] double fragmentation() const noexcept {
    return free_bytes == 0
               ? 0
               : 1 - static_cast<double>(largest_free) / static_cast<double>(free_bytes);
  }
};

/// What became of the requests of a domain that did not fit at once.
struct PressureStatistics {
  std::uint64_t windows = 0;         ///< times that a thread went up the ladder
  std::uint64_t waits = 0;           ///< requests that queued behind another
  std::uint64_t served_waiting = 0;  ///< requests whose memory was reserved for them in the queue
  std::uint64_t grown = 0;           ///< regions acquired
  std::uint64_t regions_released = 0;
  std::uint64_t damped = 0;  ///< ladders put off or saved because of the damper
  std::uint64_t failed = 0;  ///< requests that failed, for any reason
  std::uint64_t watermark_passes = 0;
  std::uint64_t reclaimed_bytes = 0;  ///< by responders
  std::uint64_t reclaim_ns = 0;       ///< inside responders
};

struct DomainStatistics {
  std::string name;
  std::uint64_t capacity_bytes = 0;
  UsageStatistics usage[kMemoryTypes];  ///< by MemoryType
  PressureStatistics pressure;
};

/// One consistent moment of a device.
struct DeviceStatistics {
  std::vector<DomainStatistics> domains;
  std::uint64_t allocations = 0;     ///< requests served so far
  std::uint64_t frees = 0;           ///< handles given back so far
  std::uint64_t deferred_frees = 0;  ///< of these, frees that found the device busy
};

}  // namespace fallow::device
