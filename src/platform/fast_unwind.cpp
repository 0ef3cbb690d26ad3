#include "platform/fast_unwind.h"

#include <dlfcn.h>

#include <atomic>
#include <climits>

namespace fallow::platform {
namespace {

using Backtrace = int (*)(void**, int);
std::atomic<Backtrace> backtrace_function{nullptr};

}  // namespace

bool load_fast_unwind() noexcept {
  if (backtrace_function.load() != nullptr) return true;
  void* const library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  Backtrace found = nullptr;
  *reinterpret_cast<void**>(&found) = dlsym(library, "unw_backtrace");
  backtrace_function.store(found);
  return found != nullptr;
}

size_t fast_unwind(void** addresses, size_t capacity) noexcept {
  const Backtrace function = backtrace_function.load(std::memory_order_relaxed);
  if (function == nullptr) return 0;
  const int most = capacity > INT_MAX ? INT_MAX : static_cast<int>(capacity);
  const int found = function(addresses, most);
  return found < 0 ? 0 : static_cast<size_t>(found);
}

}  // namespace fallow::platform
