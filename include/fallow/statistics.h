#pragma once

#include <cstddef>
#include <cstdint>

namespace fallow {

/// Pauses of one kind, in nanoseconds. Percentiles are exact to 1/32.
struct PauseSummary {
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t p999_ns = 0;
  std::uint64_t max_ns = 0;
};

/// A snapshot of a heap's figures. O(1); bytes unless the name says otherwise.
struct HeapStatistics {
  std::uint64_t minor_collections = 0;
  std::uint64_t full_collections = 0;
  std::uint64_t allocated = 0;  ///< ever allocated; includes the unused rest of open nursery chunks
  std::uint64_t promoted = 0;   ///< ever copied from the nursery into the old space
  std::size_t nursery = 0;      ///< size of the nursery
  std::size_t old_used = 0;     ///< cells in the old space, live at the last mark or newer
  std::size_t large_used = 0;   ///< large objects, in whole pages
  std::size_t committed = 0;    ///< obtained from the system: nursery, blocks, large pages
  std::size_t next_full_at = 0;  ///< old_used + large_used that starts the next full collection
  std::size_t mutators = 0;      ///< attached now
  PauseSummary minor_wall;
  PauseSummary minor_cpu;
  PauseSummary full_wall;
  PauseSummary full_cpu;
  PauseSummary stop_wall;  ///< from the request until the last mutator stopped
};

}  // namespace fallow
