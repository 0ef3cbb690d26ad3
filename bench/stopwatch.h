#pragma once

#include <cstdint>

#include "bench/benchmark.h"
#include "platform/clock.h"
#include "platform/resident.h"

namespace fallow::bench {

/// Time since construction: wall clock, CPU of the calling thread, CPU of all threads.
class Stopwatch {
 public:
  [[nodiscard]] double wall_s() const {
    return static_cast<double>(platform::monotonic_ns() - wall_) * 1e-9;
  }
  [[nodiscard]] double cpu_s() const {
    return static_cast<double>(platform::thread_cpu_ns() - cpu_) * 1e-9;
  }
  [[nodiscard]] double process_cpu_s() const {
    return static_cast<double>(platform::process_cpu_ns() - process_cpu_) * 1e-9;
  }

 private:
  std::uint64_t process_cpu_ = platform::process_cpu_ns();
  std::uint64_t cpu_ = platform::thread_cpu_ns();
  std::uint64_t wall_ = platform::monotonic_ns();
};

/// Keeps the compiler from removing the computation of `value`.
template <class T>
inline void keep(T&& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

inline double microseconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; }

inline double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

inline double rss_mib() { return mib(platform::resident_bytes()); }
inline double peak_rss_mib() { return mib(platform::peak_resident_bytes()); }

}  // namespace fallow::bench
