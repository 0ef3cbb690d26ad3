#pragma once

#include <cstdint>
#include <string>

#include "bench/benchmark.h"
#include "bench/stopwatch.h"

namespace fallow::bench {

/// Objects that a row of `alloc` allocates before the clock starts: several nurseries, so that all
/// memory has been touched and each peer has found its size.
constexpr std::uint64_t kWarmUpObjects = 4'000'000;

/// ns_per_object, gib_per_s and the times of n objects of 16 bytes.
Metrics allocation_metrics(const Stopwatch& watch, std::uint64_t n);

/// A row of `alloc`. `Subject` is default-constructible and has run(n), which allocates n objects
/// of 16 bytes and keeps the last two. Setting it up is not measured.
template <class Subject>
Row allocation_row(const std::string& name, std::uint64_t n) {
  return {name,
          [n] {
            Subject subject;
            subject.run(kWarmUpObjects);
            const Stopwatch watch;
            subject.run(n);
            return allocation_metrics(watch, n);
          },
          [](std::uint64_t objects) { Subject().run(objects); }};
}

}  // namespace fallow::bench
