#include "platform/spin.h"

#include "platform/thread_id.h"

namespace fallow::platform {

void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

bool can_run_at_once(size_t threads) noexcept {
  static const size_t processors = cpu_count();
  return threads <= processors;
}

}  // namespace fallow::platform
