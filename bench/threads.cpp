#include <fmt/format.h>

#include <latch>
#include <thread>
#include <vector>

#include "bench/cell_loop.h"
#include "bench/stopwatch.h"
#include "bench/types.h"

namespace fallow::bench {

namespace {

constexpr std::uint64_t kDefaultObjects = 500'000'000;

/// Every mutator allocates n objects of 16 bytes in its own thread. The clock runs from the moment
/// when all are ready until the last has ended. The CPU time of an object tells what the mutators
/// cost each other even where they have to share the processors with other work.
Metrics run(int mutators, std::uint64_t n) {
  Heap heap;
  std::latch ready(mutators + 1);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(mutators));
  for (int i = 0; i < mutators; ++i) {
    threads.emplace_back([&heap, &ready, n] {
      Mutator mutator(heap);
      allocate_cells(mutator, n / 64);
      {
        const Parked parked(mutator);
        ready.arrive_and_wait();
      }
      allocate_cells(mutator, n);
    });
  }
  ready.arrive_and_wait();
  const Stopwatch watch;
  for (std::thread& thread : threads) thread.join();
  const double wall = watch.wall_s();
  const double cpu = watch.process_cpu_s();
  const double objects = static_cast<double>(n) * mutators;
  const HeapStatistics figures = heap.statistics();
  return {{"mutators", static_cast<double>(mutators)},
          {"objects_per_us", objects / wall * 1e-6},
          {"gib_per_s", cells_gib(objects) / wall},
          {"cpu_ns_per_object", cpu / objects * 1e9},
          {"wall_s", wall},
          {"cpu_s", cpu},
          {"stop_p50_us", microseconds(figures.stop_wall.p50_ns)},
          {"stop_p99_us", microseconds(figures.stop_wall.p99_ns)},
          {"stop_p999_us", microseconds(figures.stop_wall.p999_ns)},
          {"stop_max_us", microseconds(figures.stop_wall.max_ns)},
          {"minor_collections", static_cast<double>(figures.minor_collections)}};
}

}  // namespace

std::vector<Row> threads_rows(const Options& options) {
  const std::uint64_t n = options.n != 0 ? options.n : kDefaultObjects;
  std::vector<Row> rows;
  for (const int mutators : {1, 2, 4}) {
    rows.push_back(
        {fmt::format("fallow/{}", mutators), [mutators, n] { return run(mutators, n); }, nullptr});
  }
  return rows;
}

}  // namespace fallow::bench
