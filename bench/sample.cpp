// What recording costs: the loop of `alloc` and GCBench with and without a recorder, by interval,
// each against itself in the same process, in turns.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/gcbench_heap.h"
#include "bench/preloaded_run.h"
#include "bench/stopwatch.h"
#include "bench/types.h"
#include "fallow/live.h"
#include "fallow/profile.h"

namespace fallow::bench {

namespace {

using profile::Recorder;
using profile::RecorderOptions;
using profile::RecorderStatus;

constexpr std::uint64_t kDefaultObjects = 1'000'000'000;
constexpr int kTurns = 3;
constexpr std::size_t kKiB = 1024;

[[gnu::noinline, gnu::aligned(64)]] void loop(Mutator& mutator, std::uint64_t n) {
  Ref<Cell> current;
  Ref<Cell> previous;
  for (std::uint64_t i = 0; i < n; ++i) {
    previous = current;
    current = make<Cell>(mutator, live(previous));
  }
  keep(current.get());
  keep(previous.get());
}

/// The loop below so many calls.
[[gnu::noinline]] void loop_at_depth(Mutator& mutator, std::uint64_t n, int depth) {
  if (depth > 0) {
    loop_at_depth(mutator, n, depth - 1);
  } else {
    loop(mutator, n);
  }
  asm volatile("");  // the call is no tail call
}

class TemporaryFile {
 public:
  TemporaryFile()
      : path_((std::filesystem::temp_directory_path() /
               fmt::format("fallow-bench-{}.fallow", getpid()))
                  .string()) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Turn {
  double wall_s;
  double cpu_s;  ///< of the whole process: the recorder's thread counts
};

struct Sums {
  std::vector<double> off_wall, on_wall, off_cpu, on_cpu;
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t memory_bytes = 0;
  double self_cost = 0;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

template <class Work>
Turn timed(Work&& work) {
  const Stopwatch watch;
  work();
  return {watch.wall_s(), watch.process_cpu_s()};
}

Metrics figures(const Sums& sums) {
  const double on_wall = median(sums.on_wall);
  const double samples = static_cast<double>(sums.samples) / kTurns;
  return {{"overhead_ratio", on_wall / median(sums.off_wall)},
          {"cpu_ratio", median(sums.on_cpu) / median(sums.off_cpu)},
          {"ns_per_sample", (median(sums.on_cpu) - median(sums.off_cpu)) * 1e9 / samples},
          {"samples_per_s", samples / on_wall},
          {"lost", static_cast<double>(sums.lost)},
          {"bytes_per_sample", static_cast<double>(sums.file_bytes) / kTurns / samples},
          {"recorder_mib", mib(sums.memory_bytes)},
          {"self_cost", sums.self_cost},
          {"off_wall_s", median(sums.off_wall)}};
}

/// The same work without and with a recording, in turns.
template <class Work>
Metrics compare(std::size_t interval, Work&& work) {
  const TemporaryFile file;
  RecorderOptions options;
  options.file = file.path();
  options.overwrite = true;
  options.interval_bytes = interval;
  Recorder recorder(options);
  Sums sums;
  work();  // everything has been touched
  for (int turn = 0; turn < kTurns; ++turn) {
    const Turn off = timed(work);
    sums.off_wall.push_back(off.wall_s);
    sums.off_cpu.push_back(off.cpu_s);
    recorder.start();
    const Turn on = timed([&] {
      work();
      recorder.flush();
    });
    recorder.stop();
    sums.on_wall.push_back(on.wall_s);
    sums.on_cpu.push_back(on.cpu_s);
    const RecorderStatus status = recorder.status();
    sums.samples += status.samples;
    sums.lost += status.lost;
    sums.file_bytes += status.file_bytes;
    sums.memory_bytes = std::max(sums.memory_bytes, status.memory_bytes);
    sums.self_cost = status.cost();
  }
  return figures(sums);
}

Metrics run_seed(std::size_t interval, std::uint64_t n, int depth) {
  Heap heap;
  Mutator mutator(heap, "bench");
  return compare(interval, [&] { loop_at_depth(mutator, n, depth); });
}

std::string name_of_interval(std::size_t bytes) {
  return bytes < kKiB * kKiB ? fmt::format("{}KiB", bytes / kKiB)
                             : fmt::format("{}MiB", bytes / kKiB / kKiB);
}

}  // namespace

std::vector<Row> sample_rows(const Options& options) {
  const std::uint64_t n = options.n != 0 ? options.n : kDefaultObjects;
  std::vector<Row> rows;
  for (const std::size_t kib : {4, 32, 512, 4096, 32768}) {
    const std::size_t interval = kib * kKiB;
    rows.push_back(
        {"seed/" + name_of_interval(interval), [=] { return run_seed(interval, n, 0); }, nullptr});
  }
  for (const std::size_t kib : {4, 32, 512, 4096, 32768}) {
    const std::size_t interval = kib * kKiB;
    rows.push_back({"gcbench/" + name_of_interval(interval),
                    [=] {
                      return compare(interval, [] {
                        keep(measure_gcbench_with_live(HeapOptions::from_environment()).size());
                      });
                    },
                    nullptr});
  }
  // Stacks of so many entries below the allocation, and as many samples as can be.
  for (const int depth : {5, 20}) {
    rows.push_back({fmt::format("depth{}/4KiB", depth),
                    [=] { return run_seed(4 * kKiB, n / 4, depth - 3); }, nullptr});
  }
  rows.push_back({"sustained/1KiB", [=] { return run_seed(kKiB, n / 4, 2); }, nullptr});
  add_preloaded_rows(rows);
  return rows;
}

}  // namespace fallow::bench
