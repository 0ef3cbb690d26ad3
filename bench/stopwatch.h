#pragma once

#include <cstdint>

#include "bench/benchmark.h"
#include "platform/clock.h"
#include "platform/resident.h"

namespace fallow::bench {

/// Wall and CPU time of the calling thread since construction.
class Stopwatch {
 public:
  [[nodiscard]] double wall_s() const {
    return static_cast<double>(platform::monotonic_ns() - wall_) * 1e-9;
  }
  [[nodiscard]] double cpu_s() const {
    return static_cast<double>(platform::thread_cpu_ns() - cpu_) * 1e-9;
  }

 private:
  std::uint64_t wall_ = platform::monotonic_ns();
  std::uint64_t cpu_ = platform::thread_cpu_ns();
};

/// Keeps the compiler from removing the computation of `value`.
template <class T>
inline void keep(T&& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

inline double peak_rss_mib() {
  return static_cast<double>(platform::peak_resident_bytes()) / (1024.0 * 1024.0);
}

}  // namespace fallow::bench
