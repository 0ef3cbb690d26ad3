#include "tests/heap/malloc_gate.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>

#include "platform/sanitizer.h"

namespace fallow::test {

namespace {

constinit std::atomic<int> g_inside{0};
constinit std::atomic<bool> g_closed{false};

void close_gate() {
  g_closed.store(true);
  while (g_inside.load() != 0) sched_yield();
}

void open_gate() { g_closed.store(false); }

// Before all other handlers are registered, so that it closes last and opens first: the others may
// use memory.
[[gnu::constructor(101)]] void register_gate() {
  if constexpr (platform::address_sanitizer_active()) {
    pthread_atfork(close_gate, open_gate, open_gate);
  }
}

}  // namespace

InMalloc::InMalloc() noexcept {
  if constexpr (platform::address_sanitizer_active()) {
    for (;;) {
      g_inside.fetch_add(1);
      if (!g_closed.load()) return;
      g_inside.fetch_sub(1);
      while (g_closed.load()) sched_yield();
    }
  }
}

InMalloc::~InMalloc() {
  if constexpr (platform::address_sanitizer_active()) g_inside.fetch_sub(1);
}

}  // namespace fallow::test
