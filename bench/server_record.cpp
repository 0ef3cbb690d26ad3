#include "bench/server_record.h"

#include <algorithm>

#include "bench/stopwatch.h"

namespace fallow::bench {

namespace {

/// Events between two looks at the heap's statistics, which take a while.
constexpr std::size_t kHeapEvery = 8;

}  // namespace

ServerRecord::ServerRecord(Heap& heap, std::size_t events)
    : heap_(heap), cycles_before_(heap.statistics().full_collections) {
  latency_.points.reserve(events);
  heap_size_.points.reserve(events / kHeapEvery + 1);
  note_heap(0);
}

void ServerRecord::note(const AnsweredEvent& event) {
  latencies_.record(event.latency_ns);
  action_max_ns_ = std::max(action_max_ns_, event.cpu_ns);
  pause_max_ns_ = std::max(pause_max_ns_, event.pause_cpu_ns);
  const double second = static_cast<double>(event.due_ns) * 1e-9;
  latency_.points.emplace_back(second, static_cast<double>(event.latency_ns) * 1e-6);
  if (latency_.points.size() % kHeapEvery == 0) note_heap(second);
}

void ServerRecord::note_heap(double second) {
  const HeapStatistics now = heap_.statistics();
  const double size = mib(now.old_used + now.large_used);
  heap_max_mib_ = std::max(heap_max_mib_, size);
  heap_size_.points.emplace_back(second, size);
}

std::uint64_t ServerRecord::cycles() const {
  return heap_.statistics().full_collections - cycles_before_;
}

Metrics ServerRecord::metrics() const {
  return {{"latency_p50_us", microseconds(latencies_.percentile(0.5))},
          {"latency_p99_us", microseconds(latencies_.percentile(0.99))},
          {"latency_p999_us", microseconds(latencies_.percentile(0.999))},
          {"latency_max_us", microseconds(latencies_.max_ns())},
          {"action_max_us_cpu", microseconds(action_max_ns_)},
          {"pause_max_us_cpu", microseconds(pause_max_ns_)},
          {"cycles", static_cast<double>(cycles())},
          {"heap_mib", heap_max_mib_}};
}

}  // namespace fallow::bench
