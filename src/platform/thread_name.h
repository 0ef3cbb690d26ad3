// The calling thread's name, as debuggers show it.
//
// Thread-safety: any thread; nothing is allocated.
#pragma once

namespace fallow::platform {

struct ThreadName {
  char text[16];  // with a NUL at its end; empty when the system does not tell
};

ThreadName current_thread_name() noexcept;

}  // namespace fallow::platform
