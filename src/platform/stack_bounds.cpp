#include "platform/stack_bounds.h"

#include <pthread.h>

namespace fallow::platform {

StackBounds current_stack_bounds() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &low, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  if (!known) return {};
  const auto start = reinterpret_cast<uintptr_t>(low);
  return {start, start + bytes};
}

}  // namespace fallow::platform
