// What the kernel says about the memory of this process.
//
// Units: bytes, except mapping_count. Thread-safety: any thread; nothing is allocated.
// Errors: a figure that the kernel does not offer is 0. Each call reads a file below /proc: tens
// of microseconds, mapping_count more. Not for fast paths.
#pragma once

#include <cstddef>

namespace fallow::platform {

// Memory resident now.
size_t resident_bytes() noexcept;

// Largest amount resident at once since the start of the process or reset_peak_resident().
size_t peak_resident_bytes() noexcept;

// Number of memory mappings; the kernel limits it (vm.max_map_count, 65530 by default).
size_t mapping_count() noexcept;

// Sets the peak to what is resident now. False where the kernel does not offer that.
bool reset_peak_resident() noexcept;

}  // namespace fallow::platform
