// Identity of the calling thread, and the number of processors it may use.
//
// Thread-safety: any thread; nothing is allocated, nothing fails.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fallow::platform {

// The kernel's number of the calling thread (gettid), as shown by debuggers and profilers. Cached
// per thread: a load after the first call. Right in a fork child, too.
uint64_t current_thread_id() noexcept;

// The number of this process.
uint64_t current_process_id() noexcept;

// Processors that the calling thread may run on (its affinity mask); at least 1.
size_t cpu_count() noexcept;

}  // namespace fallow::platform
