#include "heap/reclaimer.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "heap/heap_core.h"
#include "heap/heap_registry.h"
#include "platform/clock.h"
#include "platform/futex.h"
#include "platform/helper_thread.h"

namespace fallow::detail {

namespace {

/// How often the thread looks whether waiting memory is due.
constexpr long kTickNs = 50'000'000;

enum State : std::uint32_t { kNotStarted, kAsleep, kAwake, kAbsent };
constinit std::atomic<std::uint32_t> g_state{kNotStarted};

/// The age of free pages, which belong to no heap: the least that a heap asks for.
std::uint64_t page_age_ns(const std::vector<HeapCore*>& heaps) noexcept {
  std::uint64_t age = heaps.empty() ? 0 : UINT64_MAX;
  for (const HeapCore* const core : heaps) {
    age = std::min(age, core->options().reclaim_age_microseconds * 1000);
  }
  return age;
}

Reclaimed reclaim_pages(const std::vector<HeapCore*>& heaps, std::uint64_t now) noexcept {
  std::size_t keep = kLeastKeptPageBytes;
  for (const HeapCore* const core : heaps) keep += core->kept_page_bytes();
  AddressSpace& space = AddressSpace::instance();
  if (space.reclaim_pages(before(now, page_age_ns(heaps)), kReclaimBatchBytes, keep)) {
    return Reclaimed::kSome;
  }
  return space.dirty_page_bytes() > keep ? Reclaimed::kLater : Reclaimed::kNothing;
}

/// A batch of each heap and one of pages.
Reclaimed reclaim_batches() noexcept {
  Reclaimed result = Reclaimed::kNothing;
  with_heaps([&result](const std::vector<HeapCore*>& heaps) {
    const std::uint64_t now = platform::monotonic_ns();
    for (HeapCore* const core : heaps) {
      if (!core->options().reclaimer_thread) continue;
      result = std::max(result, core->reclaim_batch(now));
    }
    result = std::max(result, reclaim_pages(heaps, now));
  });
  return result;
}

/// Hands back what is due; whether more will be.
bool work_off() noexcept {
  for (;;) {
    const Reclaimed result = reclaim_batches();
    if (result != Reclaimed::kSome) return result == Reclaimed::kLater;
    // Whoever waits for the registry comes first.
    sched_yield();
  }
}

void run(void*) {
  for (;;) {
    while (work_off()) {
      const timespec tick{0, kTickNs};
      nanosleep(&tick, nullptr);
    }
    g_state.store(kAsleep);
    // What became free in between was not announced.
    if (work_off()) {
      g_state.store(kAwake);
      continue;
    }
    while (g_state.load() == kAsleep) platform::futex_wait(g_state, kAsleep, 0);
  }
}

}  // namespace

bool Reclaimer::notify() noexcept {
  std::uint32_t state = g_state.load(std::memory_order_relaxed);
  if (state == kAwake) return true;
  if (state == kAbsent) return false;
  if (!g_state.compare_exchange_strong(state, kAwake)) return state != kAbsent;
  if (state == kAsleep) {
    platform::futex_wake_all(g_state);
  } else if (!platform::start_helper_thread("fallow-reclaim", run, nullptr)) {
    g_state.store(kAbsent);
    return false;
  }
  return true;
}

bool Reclaimer::may_run() noexcept { return g_state.load(std::memory_order_relaxed) != kAbsent; }

void Reclaimer::hand_back_everything(HeapCore& core) noexcept {
  bool more = true;
  while (more) {
    // Between the batches others may have the registry.
    with_heaps([&more, &core](const std::vector<HeapCore*>&) {
      const bool blocks = core.reclaim_everything();
      const bool pages = AddressSpace::instance().reclaim_pages(UINT64_MAX, kReclaimBatchBytes, 0);
      more = blocks || pages;
    });
  }
}

void Reclaimer::child_after_fork() noexcept { g_state.store(kAbsent); }

}  // namespace fallow::detail
