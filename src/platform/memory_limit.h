// The memory that a container lets the process have.
//
// Thread-safety: any thread. Errors: what cannot be read, or makes no sense, is no limit.
#pragma once

#include <cstdint>
#include <string>

namespace fallow::platform {

inline constexpr uint64_t kNoMemoryLimit = UINT64_MAX;

// The smallest limit in bytes that a control group of the process, or one above it, sets:
// memory.max or memory.high of version 2, memory.limit_in_bytes of version 1. `root` is where proc
// and the mount points are looked for.
uint64_t container_memory_limit(const std::string& root = "/");

}  // namespace fallow::platform
