#include "platform/thread_id.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fallow::platform {
namespace {

// initial-exec: reached by one instruction also from a shared library.
[[gnu::tls_model("initial-exec")]] thread_local constinit uint64_t cached_id = 0;

void forget_after_fork() { cached_id = 0; }

// Plain pthread_atfork: takes no lock, so it has no place in the order of fork_handlers.h.
[[maybe_unused]] const int kRegistered = pthread_atfork(nullptr, nullptr, forget_after_fork);

}  // namespace

uint64_t current_thread_id() noexcept {
  if (cached_id == 0) [[unlikely]] {
    cached_id = static_cast<uint64_t>(syscall(SYS_gettid));
  }
  return cached_id;
}

uint64_t current_process_id() noexcept { return static_cast<uint64_t>(getpid()); }

size_t cpu_count() noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    const int count = CPU_COUNT(&allowed);
    if (count > 0) return static_cast<size_t>(count);
  }
  // More processors than cpu_set_t holds.
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<size_t>(online) : 1;
}

}  // namespace fallow::platform
