#include "platform/clock.h"

#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fallow::platform {
namespace {

uint64_t read_clock(clockid_t clock) noexcept {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

[[maybe_unused]] bool plausible(double frequency) noexcept {
  return frequency >= 1e6 && frequency <= 2e10;
}

// Ticks and wall time read as close together as a few tries allow.
struct Reading {
  uint64_t ticks, ns;
};

[[maybe_unused]] Reading paired_reading() noexcept {
  Reading best{0, 0};
  uint64_t best_gap = UINT64_MAX;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const uint64_t before = ticks();
    const uint64_t ns = monotonic_ns();
    const uint64_t after = ticks();
    if (after - before < best_gap) {
      best_gap = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  return best;
}

[[maybe_unused]] double measured_frequency() noexcept {
  constexpr uint64_t kMeasureNs = 10'000'000;
  const Reading first = paired_reading();
  while (monotonic_ns() - first.ns < kMeasureNs) {
  }
  const Reading last = paired_reading();
  return static_cast<double>(last.ticks - first.ticks) * 1e9 /
         static_cast<double>(last.ns - first.ns);
}

#if defined(__x86_64__)

double frequency() noexcept {
  // Leaf 0x15: the ratio of the counter to a crystal, and the crystal's frequency where known.
  unsigned denominator = 0, numerator = 0, crystal = 0, unused = 0;
  if (__get_cpuid_count(0x15, 0, &denominator, &numerator, &crystal, &unused) != 0 &&
      denominator != 0 && numerator != 0 && crystal != 0) {
    const double told = static_cast<double>(crystal) * numerator / denominator;
    if (plausible(told)) return told;
  }
  return measured_frequency();
}

constexpr const char* kSource = "tsc";

#elif defined(__aarch64__)

double frequency() noexcept {
  uint64_t told;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(told));
  return plausible(static_cast<double>(told)) ? static_cast<double>(told) : measured_frequency();
}

constexpr const char* kSource = "cntvct";

#else

double frequency() noexcept { return 1e9; }

constexpr const char* kSource = "thread_cpu";

#endif

}  // namespace

uint64_t monotonic_ns() noexcept { return read_clock(CLOCK_MONOTONIC); }

uint64_t monotonic_coarse_ns() noexcept { return read_clock(CLOCK_MONOTONIC_COARSE); }

uint64_t thread_cpu_ns() noexcept { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

uint64_t process_cpu_ns() noexcept { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

double ticks_per_second() noexcept {
  static const double cached = frequency();
  return cached;
}

const char* ticks_source() noexcept { return kSource; }

}  // namespace fallow::platform
