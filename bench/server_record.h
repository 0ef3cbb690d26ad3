#pragma once

#include <cstdint>
#include <vector>

#include "bench/benchmark.h"
#include "fallow/heap.h"
#include "telemetry/histogram.h"

namespace fallow::bench {

/// Names of the series for the pictures: latency in ms and heap in MiB, against seconds.
inline constexpr const char* kLatencySeries = "latency";
inline constexpr const char* kHeapSeries = "heap";

struct AnsweredEvent {
  std::uint64_t due_ns;        ///< since the first event was due
  std::uint64_t latency_ns;    ///< from then to the end of the action
  std::uint64_t cpu_ns;        ///< of the action, with the collector's pauses in it
  std::uint64_t pause_cpu_ns;  ///< the longest of those
};

/// What became of the events, and of the heap meanwhile.
class ServerRecord {
 public:
  ServerRecord(Heap& heap, std::size_t events);

  void note(const AnsweredEvent& event);
  /// Full collections that ended since construction.
  [[nodiscard]] std::uint64_t cycles() const;
  [[nodiscard]] Metrics metrics() const;
  [[nodiscard]] std::vector<Series> series() const { return {latency_, heap_size_}; }

 private:
  void note_heap(double second);

  Heap& heap_;
  const std::uint64_t cycles_before_;
  telemetry::PauseHistogram latencies_;
  std::uint64_t action_max_ns_ = 0;
  std::uint64_t pause_max_ns_ = 0;
  double heap_max_mib_ = 0;
  Series latency_{kLatencySeries, {}};
  Series heap_size_{kHeapSeries, {}};
};

}  // namespace fallow::bench
