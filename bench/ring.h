#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bench/benchmark.h"
#include "bench/stopwatch.h"
#include "telemetry/histogram.h"

namespace fallow::bench {

/// The newest messages, each push drops the oldest: memory that lives long and dies in the order in
/// which it was made, which a generational collector copies once and gains nothing by.
namespace ring {

inline constexpr std::size_t kMessageBytes = 1024;

/// Slots of the ring for so many pushes.
std::size_t slots_for(std::uint64_t pushes);

/// Percentiles and peak; call it while the ring is alive.
Metrics metrics(const telemetry::PauseHistogram& pushes, const Stopwatch& watch, std::size_t slots);

/// Fills all slots with push(slot), then measures `pushes` more. `Push` allocates a message, fills
/// it and replaces the slot's.
template <class Push>
Metrics measure(std::uint64_t pushes, std::size_t slots, Push&& push) {
  for (std::size_t slot = 0; slot < slots; ++slot) push(slot);
  telemetry::PauseHistogram times;
  std::size_t slot = 0;
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < pushes; ++i) {
    const std::uint64_t before = platform::monotonic_ns();
    push(slot);
    times.record(platform::monotonic_ns() - before);
    if (++slot == slots) slot = 0;
  }
  return metrics(times, watch, slots);
}

/// With an allocator that is told what to free. `Functions` has static allocate(bytes) and
/// release(pointer).
template <class Functions>
Metrics measure_explicit(std::uint64_t pushes) {
  const std::size_t slots = slots_for(pushes);
  std::vector<void*> messages(slots, nullptr);
  const Metrics metrics = measure(pushes, slots, [&messages](std::size_t slot) {
    void* const message = Functions::allocate(kMessageBytes);
    std::memset(message, static_cast<unsigned char>(slot), kMessageBytes);
    Functions::release(messages[slot]);
    messages[slot] = message;
  });
  for (void* const message : messages) Functions::release(message);
  return metrics;
}

}  // namespace ring

}  // namespace fallow::bench
