#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/clock.h"

// Waiting for another thread without giving up the processor, for what usually takes microseconds:
// going to sleep in the kernel and being woken costs more than that, above all on a virtual
// machine, whose idle processors are taken away.
//
// Thread-safety: any thread. Nothing allocates or fails.

namespace fallow::platform {

// A hint to the processor inside a short spin loop.
void spin_pause() noexcept;

// Whether so many threads find a processor each, judged by the affinity of the first caller's
// thread.
bool can_run_at_once(size_t threads) noexcept;

// Spins until `done()`, which any thread may make true; false when that takes longer than
// `limit_ns`, or at once on a single processor.
template <class Done>
bool spin_until(Done&& done, uint64_t limit_ns) noexcept {
  // Looking at the clock takes as long as some turns.
  constexpr int kTurnsPerLook = 16;
  if (done()) return true;
  if (!can_run_at_once(2)) return false;
  const uint64_t end = monotonic_ns() + limit_ns;
  do {
    for (int turn = 0; turn < kTurnsPerLook; ++turn) {
      spin_pause();
      if (done()) return true;
    }
  } while (monotonic_ns() < end);
  return false;
}

}  // namespace fallow::platform
