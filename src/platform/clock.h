// Clocks. Wall time in nanoseconds, CPU time in nanoseconds, and the cheapest tick counter that
// the processor offers.
//
// Thread-safety: all functions may be called from any thread and do not allocate.
// Errors: a clock that the kernel refuses reads 0.
#pragma once

#include <cstdint>

namespace fallow::platform {

// Nanoseconds since an arbitrary start, never going back; CLOCK_MONOTONIC.
uint64_t monotonic_ns() noexcept;

// The same clock as of the last tick of the kernel, some milliseconds old; a few nanoseconds.
uint64_t monotonic_coarse_ns() noexcept;

// CPU nanoseconds, user and system, of the calling thread.
uint64_t thread_cpu_ns() noexcept;

// CPU nanoseconds, user and system, of all threads of the process.
uint64_t process_cpu_ns() noexcept;

// The tick counter: time stamp counter on x86-64, virtual counter on aarch64, thread CPU
// nanoseconds elsewhere. A few nanoseconds per read; not ordered with the surrounding
// instructions. Compared between threads only where ticks_source() is not "thread_cpu".
inline uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return thread_cpu_ns();
#endif
}

// Frequency of ticks(). The first call may busy-wait for about ten milliseconds to measure it;
// the result is cached.
double ticks_per_second() noexcept;

// "tsc", "cntvct" or "thread_cpu".
const char* ticks_source() noexcept;

}  // namespace fallow::platform
