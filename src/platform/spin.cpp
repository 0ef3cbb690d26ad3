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

bool spinning_helps() noexcept {
  static const bool several_processors = cpu_count() > 1;
  return several_processors;
}

}  // namespace fallow::platform
