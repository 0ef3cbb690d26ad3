// The executable and the shared libraries that are in memory.
//
// Thread-safety: any thread; takes the dynamic loader's lock, so never from a signal handler or
// while holding a lock that an allocation may need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fallow::platform {

struct LoadedModule {
  std::string path;      // absolute where the loader knows it; "[vdso]" for the kernel's part
  std::string build_id;  // hexadecimal, lower case; empty when it has none
  uintptr_t start = 0;   // of its first segment
  uintptr_t end = 0;     // behind its last segment
  uintptr_t bias = 0;    // address in the process = address in the file + bias
};

// Changes whenever a library has been loaded or unloaded. Some 100 ns.
uint64_t loader_generation() noexcept;

std::vector<LoadedModule> loaded_modules();

}  // namespace fallow::platform
