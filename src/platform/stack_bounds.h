// Where the calling thread's own stack lies.
//
// Thread-safety: any thread. The call allocates and reads files, microseconds to tens of them: once
// a thread, and never in a signal handler.
#pragma once

#include <cstdint>

namespace fallow::platform {

// Addresses [low, high); both 0 when the system does not tell. The lower part may not be mapped
// yet: the stack of the main thread grows.
struct StackBounds {
  uintptr_t low = 0;
  uintptr_t high = 0;
};

StackBounds current_stack_bounds() noexcept;

}  // namespace fallow::platform
