#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include "bench/cell_loop.h"
#include "bench/roofline.h"
#include "bench/runner.h"
#include "bench/stopwatch.h"
#include "bench/types.h"

namespace fallow::bench {

namespace {

constexpr std::uint64_t kDefaultObjects = 500'000'000;

/// Phases of one row: long enough to contain tens of collections, short enough that a machine whose
/// speed changes treats both halves of a pair alike.
constexpr int kPhases = 20;

struct Phase {
  double wall_s;
  double cpu_s;
};

/// What each thread does: calls ready() when it could start, and then works.
using Work = std::function<void(int index, const std::function<void()>& ready)>;

/// The clock runs from the moment when all threads are ready until the last has ended.
Phase together(int count, const Work& work) {
  std::latch latch(count + 1);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] { work(i, [&latch] { latch.arrive_and_wait(); }); });
  }
  latch.arrive_and_wait();
  const Stopwatch watch;
  for (std::thread& thread : threads) thread.join();
  return {watch.wall_s(), watch.process_cpu_s()};
}

/// Every thread allocates n objects of 16 bytes, in phases. Before or after each phase, in turn,
/// one thread does its share alone: `scaling` is the median, over pairs of these, of the rate of
/// all over the rate of one, which the machine's changes of speed hardly touch. The CPU time of an
/// object tells what the threads cost each other even where they have to share the processors with
/// other work.
Metrics in_phases(int count, std::uint64_t n, const std::function<Phase(int, std::uint64_t)>& run) {
  const std::uint64_t share = std::max<std::uint64_t>(n / kPhases, 1);
  run(count, share);
  std::vector<double> scaling;
  Phase sum{0, 0};
  for (int i = 0; i < kPhases; ++i) {
    const bool alone_first = i % 2 == 0;
    const Phase first = run(alone_first ? 1 : count, share);
    const Phase second = run(alone_first ? count : 1, share);
    const Phase& one = alone_first ? first : second;
    const Phase& all = alone_first ? second : first;
    const double ratio = one.wall_s / all.wall_s * count;
    if (alone_first) {
      scaling.push_back(ratio);
    } else {
      // Who comes second is slower on some machines: the two orders together are fair.
      scaling.back() = std::sqrt(scaling.back() * ratio);
    }
    sum.wall_s += all.wall_s;
    sum.cpu_s += all.cpu_s;
  }
  const double objects = static_cast<double>(share) * kPhases * count;
  return {{"threads", static_cast<double>(count)},
          {"scaling", median(scaling)},
          {"objects_per_us", objects / sum.wall_s * 1e-6},
          {"gib_per_s", cells_gib(objects) / sum.wall_s},
          {"cpu_ns_per_object", sum.cpu_s / objects * 1e9},
          {"wall_s", sum.wall_s},
          {"cpu_s", sum.cpu_s}};
}

Metrics run_mutators(int count, std::uint64_t n) {
  Heap heap;
  Metrics metrics = in_phases(count, n, [&heap](int threads, std::uint64_t share) {
    return together(threads, [&](int, const std::function<void()>& ready) {
      Mutator mutator(heap);
      {
        const Parked parked(mutator);
        ready();
      }
      allocate_cells(mutator, share);
    });
  });
  const HeapStatistics figures = heap.statistics();
  metrics.insert(metrics.end(),
                 {{"stop_p50_us", microseconds(figures.stop_wall.p50_ns)},
                  {"stop_p99_us", microseconds(figures.stop_wall.p99_ns)},
                  {"stop_p999_us", microseconds(figures.stop_wall.p999_ns)},
                  {"stop_max_us", microseconds(figures.stop_wall.max_ns)},
                  {"minor_collections", static_cast<double>(figures.minor_collections)}});
  return metrics;
}

/// On cache lines of its own.
struct alignas(128) OwnRoofline : Roofline<true, Words::kInMemory> {};

/// What the machine itself gives to as many threads that share nothing: each bumps through a buffer
/// of its own.
Metrics run_rooflines(int count, std::uint64_t n) {
  std::vector<OwnRoofline> rooflines(static_cast<std::size_t>(count));
  return in_phases(count, n, [&rooflines](int threads, std::uint64_t share) {
    return together(threads, [&](int index, const std::function<void()>& ready) {
      ready();
      rooflines[static_cast<std::size_t>(index)].run(share);
    });
  });
}

}  // namespace

std::vector<Row> threads_rows(const Options& options) {
  const std::uint64_t n = options.n != 0 ? options.n : kDefaultObjects;
  std::vector<Row> rows;
  for (const int count : {1, 2, 4}) {
    rows.push_back(
        {fmt::format("fallow/{}", count), [count, n] { return run_mutators(count, n); }, nullptr});
  }
  for (const int count : {1, 2, 4}) {
    rows.push_back({fmt::format("roofline/{}", count),
                    [count, n] { return run_rooflines(count, n); }, nullptr});
  }
  return rows;
}

}  // namespace fallow::bench
