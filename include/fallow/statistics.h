#pragma once

#include <cstddef>
#include <cstdint>

#include "fallow/step.h"

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

/// What a program looks at to decide whether to collect in idle time: a few loads. Bytes.
struct HeapUsage {
  std::size_t young =
      0;                ///< since the last minor collection: nursery in whole chunks, large objects
  std::size_t old = 0;  ///< old space and large objects, the young ones too
  std::size_t next_full_at = 0;          ///< `old` that starts the next full collection
  CycleState cycle = CycleState::kIdle;  ///< of the full collection
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
  CycleState cycle = CycleState::kIdle;  ///< of the full collection
  std::size_t life_entry_bytes = 0;      ///< outside the heap, for objects with a life of their own
  std::uint64_t weak_cleared = 0;        ///< weak references whose targets died, so far
  std::uint64_t ephemerons_cleared = 0;
  std::uint64_t finalizers = 0;      ///< objects delivered to FinalizerQueues so far
  std::uint64_t destructors = 0;     ///< run, or handed to the reclaimer thread, so far
  std::uint64_t marker_bytes = 0;    ///< marked by the marker thread so far
  std::uint64_t marker_cpu_ns = 0;   ///< CPU time that this took
  int major_pauses = 0;              ///< MajorPause objects that exist now
  std::uint64_t no_gc_scopes = 0;    ///< NoGc objects so far, nested ones apart
  std::uint64_t no_gc_overruns = 0;  ///< of those, how many were over before their end
  PauseSummary minor_wall;
  PauseSummary minor_cpu;
  PauseSummary full_wall;  ///< of full collections in one piece
  PauseSummary full_cpu;
  PauseSummary step_wall;  ///< of steps of full collections, by the heap itself or Heap::step
  PauseSummary step_cpu;
  PauseSummary pause_wall;  ///< whole pauses: minor collections with what follows them, and steps
  PauseSummary pause_cpu;
  PauseSummary stop_wall;  ///< from the request until the last mutator stopped
};

}  // namespace fallow
