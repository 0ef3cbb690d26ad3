#include "bench/cell_loop.h"
#include "bench/gcbench_heap.h"
#include "bench/stopwatch.h"
#include "bench/svg_chart.h"
#include "bench/types.h"
#include "telemetry/size_parser.h"

namespace fallow::bench {

namespace {

constexpr std::uint64_t kDefaultObjects = 200'000'000;
constexpr std::size_t kSmallest = std::size_t{256} << 10;
constexpr std::size_t kLargest = std::size_t{64} << 20;

Metrics run(std::size_t nursery_bytes, std::uint64_t n) {
  HeapOptions options = HeapOptions::from_environment();
  options.nursery_bytes = nursery_bytes;
  Metrics metrics = measure_gcbench_with_live(options);
  Heap heap(options);
  Mutator mutator(heap, "bench");
  allocate_cells(mutator, n / 16);
  const Stopwatch watch;
  allocate_cells(mutator, n);
  metrics.emplace_back("gib_per_s", cells_gib(static_cast<double>(n)) / watch.cpu_s());
  metrics.emplace_back("nursery_kib", static_cast<double>(nursery_bytes) / 1024);
  return metrics;
}

std::string size_label(double kib) {
  return telemetry::format_bytes(static_cast<std::uint64_t>(kib) * 1024);
}

}  // namespace

std::vector<Row> nursery_rows(const Options& options) {
  const std::uint64_t n = options.n != 0 ? options.n : kDefaultObjects;
  std::vector<Row> rows;
  for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes *= 2) {
    rows.push_back({"fallow/" + telemetry::format_bytes(bytes),
                    [bytes, n] { return run(bytes, n); }, nullptr});
  }
  return rows;
}

std::string nursery_as_svg(const std::vector<Measured>& rows) {
  LineChart chart{"GCBench and allocation against the size of the nursery",
                  "size of the nursery",
                  size_label,
                  {{"GCBench, CPU seconds", {}},
                   {"allocation rate, GiB/s", {}},
                   {"GCBench, peak resident memory, MiB", {}}}};
  const char* const metrics[] = {"cpu_s", "gib_per_s", "peak_rss_mib"};
  for (const Measured& row : rows) {
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      chart.series[i].points.emplace_back(row.value("nursery_kib"), row.value(metrics[i]));
    }
  }
  return as_svg(chart);
}

}  // namespace fallow::bench
