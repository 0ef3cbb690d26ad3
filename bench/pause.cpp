// Pauses of a heap that collects in steps, in scenarios that have hurt other collectors.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/garbage.h"
#include "bench/pair_tree.h"
#include "bench/stopwatch.h"
#include "bench/types.h"
#include "fallow/major_pause.h"

namespace fallow::bench {

namespace {

using namespace std::chrono_literals;

/// The pauses so far, as the statistics see them.
Metrics pauses(Heap& heap) {
  const HeapStatistics figures = heap.statistics();
  return {{"pause_max_us_cpu", microseconds(figures.pause_cpu.max_ns)},
          {"pause_max_us_wall", microseconds(figures.pause_wall.max_ns)},
          {"pause_p999_us_cpu", microseconds(figures.pause_cpu.p999_ns)},
          {"copy_max_us_cpu", microseconds(figures.minor_cpu.max_ns)},
          {"step_max_us_cpu", microseconds(figures.step_cpu.max_ns)},
          {"step_max_us_wall", microseconds(figures.step_wall.max_ns)},
          {"cycles", static_cast<double>(figures.full_collections)},
          {"cycle_cpu_ms",
           static_cast<double>(figures.step_cpu.total_ns + figures.full_cpu.total_ns) * 1e-6},
          {"marker_cpu_ms", static_cast<double>(figures.marker_cpu_ns) * 1e-6},
          {"rss_after_mib", rss_mib()},
          {"rss_peak_mib", peak_rss_mib()}};
}

enum class Mode : std::uint8_t { kSteps, kTarget, kMarker, kStopTheWorld };

HeapOptions options_for(Mode mode) {
  HeapOptions options = HeapOptions::from_environment();
  if (mode == Mode::kStopTheWorld) options.step_budget_microseconds = 0;
  if (mode == Mode::kMarker) options.marker_threads = 1;
  if (mode == Mode::kTarget) options.pause_target_microseconds = 1000;
  return options;
}

/// A live tree, and one cycle over it while short trees come and go.
Metrics tree(int depth, Mode mode) {
  constexpr int kShortTrees = 200'000;
  const bool in_steps = mode != Mode::kStopTheWorld;
  Heap heap(options_for(mode));
  Mutator mutator(heap, "bench");
  std::optional<MajorPause> until_it_stands(heap);
  const Local<Pair> root(mutator, pair_tree(mutator, depth));
  const Stopwatch watch;
  if (in_steps) heap.step(0ns);
  until_it_stands.reset();
  for (int i = 0; i < kShortTrees; ++i) keep(pair_tree(mutator, 5).get());
  if (!in_steps) heap.collect();
  // What pacing has left of the cycle, which a heap that does not grow is in no hurry to end.
  while (in_steps && heap.statistics().full_collections == 0) heap.step(500us);
  const double wall_ms = watch.wall_s() * 1e3;
  Metrics metrics = pauses(heap);
  metrics.emplace_back("wall_ms", wall_ms);
  return metrics;
}

/// Random stores of fresh nodes into an array of ten million.
Metrics array10m(Mode mode) {
  constexpr std::size_t kLength = 10'000'000;
  constexpr std::size_t kStores = 20'000'000;
  Heap heap(options_for(mode));
  Mutator mutator(heap, "bench");
  const Local<Array<Pair>> array(mutator, make_array<Pair>(mutator, kLength));
  for (std::size_t i = 0; i < kLength; ++i) {
    const Ref<Pair> node = make<Pair>(mutator);
    array->set(i, node);
  }
  std::minstd_rand random(1);
  heap.step(0ns);
  const Stopwatch watch;
  for (std::size_t i = 0; i < kStores; ++i) {
    const Ref<Pair> node = make<Pair>(mutator);
    array->set(random() % kLength, node);
  }
  const double ns = watch.cpu_s() * 1e9 / static_cast<double>(kStores);
  Metrics metrics = pauses(heap);
  metrics.emplace_back("ns_per_store", ns);
  return metrics;
}

/// Many buffers that die at once.
Metrics rawfree(const BlockSet& blocks) {
  Heap heap;
  Mutator mutator(heap, "bench");
  drop_blocks(mutator, blocks);
  heap.step(0ns);
  work_lightly(mutator, 2000ms);
  const double after_work = rss_mib();
  heap.trim();
  Metrics metrics = pauses(heap);
  metrics.emplace_back("rss_after_work_mib", after_work);
  return metrics;
}

/// A list of which every 200th node is kept.
Metrics sparse() {
  constexpr std::size_t kKeepOne = 200;
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Array<Pair>> kept(mutator, keep_some(mutator, kListNodes, kKeepOne));
  heap.trim();
  Metrics metrics = pauses(heap);
  metrics.emplace_back("mappings", static_cast<double>(platform::mapping_count()));
  return metrics;
}

constexpr std::chrono::microseconds kStep = 200us;

/// `times` in nanoseconds, at least one.
Metrics longest_steps(std::vector<std::uint64_t> cpu_ns, std::uint64_t longest_wall_ns) {
  std::sort(cpu_ns.begin(), cpu_ns.end());
  const std::size_t beyond = cpu_ns.size() / 1000;
  return {{"step_max_us_cpu", microseconds(cpu_ns.back())},
          {"step_p999_us_cpu", microseconds(cpu_ns[cpu_ns.size() - 1 - beyond])},
          {"step_p50_us_cpu", microseconds(cpu_ns[cpu_ns.size() / 2])},
          {"step_max_us_wall", microseconds(longest_wall_ns)},
          {"steps", static_cast<double>(cpu_ns.size())}};
}

/// What the machine alone makes of steps of 200 µs: computing, with a look at the clock after every
/// few microseconds. Where the host takes the processor away, CPU time goes on.
Metrics steps_without_heap() {
  constexpr int kSteps = 5000;
  std::vector<std::uint64_t> cpu_ns;
  std::uint64_t longest_wall_ns = 0;
  for (int i = 0; i < kSteps; ++i) {
    const std::uint64_t wall = platform::monotonic_ns();
    const std::uint64_t cpu = platform::thread_cpu_ns();
    const auto step_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(kStep).count());
    while (platform::thread_cpu_ns() - cpu < step_ns) {
      for (std::uint64_t n = 0; n < 3000; ++n) keep(n);
    }
    cpu_ns.push_back(platform::thread_cpu_ns() - cpu);
    longest_wall_ns = std::max(longest_wall_ns, platform::monotonic_ns() - wall);
  }
  return longest_steps(std::move(cpu_ns), longest_wall_ns);
}

/// A whole cycle by explicit steps of 200 µs.
Metrics steps(int depth) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Pair> root(mutator, pair_tree(mutator, depth));
  heap.collect();
  std::vector<std::uint64_t> cpu_ns;
  std::uint64_t longest_wall_ns = 0;
  for (StepResult result; !result.cycle_ended;) {
    result = heap.step(kStep);
    cpu_ns.push_back(result.cpu_ns);
    longest_wall_ns = std::max(longest_wall_ns, result.wall_ns);
  }
  return longest_steps(std::move(cpu_ns), longest_wall_ns);
}

constexpr std::pair<const char*, Mode> kModes[] = {{"", Mode::kSteps},
                                                   {"/target", Mode::kTarget},
                                                   {"/marker", Mode::kMarker},
                                                   {"/stop-the-world", Mode::kStopTheWorld}};

}  // namespace

std::vector<Row> pause_rows(const Options& options) {
  const int deep = requested_depth(options, 24);
  std::vector<Row> rows;
  for (const int depth : {deep - 2, deep}) {
    const std::string name = fmt::format("tree{}", depth);
    for (const auto& [variant, mode] : kModes) {
      rows.push_back({name + variant, [depth, mode] { return tree(depth, mode); }, nullptr});
    }
  }
  rows.push_back({"array10m", [] { return array10m(Mode::kSteps); }, nullptr});
  rows.push_back({"array10m/target", [] { return array10m(Mode::kTarget); }, nullptr});
  for (const BlockSet& blocks : kGigabytesOfBlocks) {
    rows.push_back(
        {fmt::format("rawfree/{}", blocks.bytes), [blocks] { return rawfree(blocks); }, nullptr});
  }
  rows.push_back({"sparse", [] { return sparse(); }, nullptr});
  rows.push_back({"step", [deep] { return steps(deep); }, nullptr});
  rows.push_back({"step/no-heap", [] { return steps_without_heap(); }, nullptr});
  return rows;
}

}  // namespace fallow::bench
