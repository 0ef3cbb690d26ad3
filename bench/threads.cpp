#include <thread>
#include <vector>

#include "bench/stopwatch.h"
#include "bench/types.h"

namespace fallow::bench {

namespace {

constexpr std::uint64_t kDefaultObjects = 500'000'000;

[[gnu::noinline, gnu::aligned(64)]] void allocate(Mutator& mutator, std::uint64_t n) {
  Ref<Cell> current;
  Ref<Cell> previous;
  for (std::uint64_t i = 0; i < n; ++i) {
    previous = current;
    current = make<Cell>(mutator, live(previous), static_cast<std::int64_t>(i));
  }
  keep(current.get());
  keep(previous.get());
}

double microseconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; }

Metrics run(int mutators, std::uint64_t n) {
  Heap heap;
  const std::uint64_t cpu_before = platform::process_cpu_ns();
  const Stopwatch watch;
  std::vector<std::thread> threads;
  for (int i = 0; i < mutators; ++i) {
    threads.emplace_back([&heap, n] {
      Mutator mutator(heap);
      allocate(mutator, n);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double wall = watch.wall_s();
  const double objects = static_cast<double>(n) * mutators;
  const HeapStatistics figures = heap.statistics();
  return {{"objects_per_us", objects / wall * 1e-6},
          {"gib_per_s", objects * 16 / (1024.0 * 1024 * 1024) / wall},
          {"wall_s", wall},
          {"cpu_s", static_cast<double>(platform::process_cpu_ns() - cpu_before) * 1e-9},
          {"stop_p50_us", microseconds(figures.stop_wall.p50_ns)},
          {"stop_p99_us", microseconds(figures.stop_wall.p99_ns)},
          {"stop_max_us", microseconds(figures.stop_wall.max_ns)},
          {"collections", static_cast<double>(figures.minor_collections)}};
}

}  // namespace

std::vector<Row> threads_rows(const Options& options) {
  const std::uint64_t n = options.n != 0 ? options.n : kDefaultObjects;
  std::vector<Row> rows;
  for (const int mutators : {1, 2, 4}) {
    rows.push_back({"fallow/" + std::to_string(mutators),
                    [mutators, n] { return run(mutators, n); }, nullptr});
  }
  return rows;
}

}  // namespace fallow::bench
