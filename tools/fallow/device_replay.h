// Playing a trace of a device on a device in software.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "fallow/device.h"

namespace fallow::tool {

struct DeviceTrace {
  std::vector<device::TraceEvent> events;
  std::uint64_t skipped_lines = 0;  // no events; a header is not counted
  std::uint64_t peak_bytes = 0;     // live at once, as requested
};

// Throws std::runtime_error when there is no event in it.
DeviceTrace read_device_trace(std::istream& input);

struct ReplayOptions {
  std::uint64_t capacity_bytes = 0;  // 0: the smallest power of two that holds twice the peak
  device::FitStrategy fit = device::FitStrategy::kSegregated;
};

struct ReplayResult {
  std::uint64_t capacity_bytes = 0;
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t failures = 0;  // of this device
  std::uint64_t failures_recorded = 0;
  std::uint64_t unknown_frees = 0;  // of what the trace does not allocate
  std::uint64_t leaked = 0;         // never freed in the trace
  std::uint64_t peak_requested = 0;
  std::uint64_t peak_used = 0;       // after rounding
  double fragmentation_at_peak = 0;  // when most was in use
  double ns_per_operation = 0;
};

// Plays all events in the order of the file, on one thread. A new allocation at a pointer that is
// still live replaces it.
ReplayResult replay_device_trace(const DeviceTrace& trace, const ReplayOptions& options);

std::string replay_as_text(const ReplayResult& result);
std::string replay_as_json(const ReplayResult& result);

}  // namespace fallow::tool
