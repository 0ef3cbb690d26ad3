// Stack walks by libunwind's cache: for code without frame pointers.
//
// The library is looked for when it is wanted, and not linked: linking it would replace the
// exception unwinder of the whole program, since both use the same names.
// Thread-safety: any thread; not in signal handlers.
#pragma once

#include <cstddef>

namespace fallow::platform {

// False when libunwind.so.8 is not installed. Does nothing after the first success.
bool load_fast_unwind() noexcept;

// Return addresses from the calling function outwards, at most `capacity`; their number. 0 before
// load_fast_unwind(). A thread's first call allocates.
size_t fast_unwind(void** addresses, size_t capacity) noexcept;

}  // namespace fallow::platform
