// A server that answers events from a large heap: how long they wait for the collector.
#include "bench/server.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <stdexcept>

#include "bench/idle_steps.h"
#include "bench/pause_watch.h"
#include "bench/server_record.h"
#include "bench/sessions.h"
#include "fallow/major_pause.h"
#include "platform/clock.h"

namespace fallow::bench {

namespace {

constexpr std::uint64_t kIntervalNs = 4'000'000;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

/// How much is done, the same in every mode.
struct Workload {
  std::size_t sessions;
  std::size_t changed_by_event;
  std::size_t events;
};

/// A few thousand events, fewer on a small heap, that make enough garbage for several full
/// collections: each begins when the heap has grown by what these options allow.
Workload workload_for(std::size_t live_bytes, const HeapOptions& options) {
  constexpr double kGrowths = 2.75;
  const std::size_t live_mib = live_bytes >> 20;
  const std::size_t events = std::clamp<std::size_t>(live_mib * 16, 100, 5000);
  const double growth = std::max(static_cast<double>(live_bytes) * (options.growth_factor - 1),
                                 static_cast<double>(options.growth_floor_bytes));
  const double changed = kGrowths * growth / Sessions::kBytes / static_cast<double>(events);
  return {live_bytes / Sessions::kBytes + 1, static_cast<std::size_t>(changed) + 1, events};
}

void sleep_until(Mutator& mutator, std::uint64_t due_ns) {
  if (platform::monotonic_ns() >= due_ns) return;
  const Parked parked(mutator);
  const timespec due{static_cast<time_t>(due_ns / kSecondNs),
                     static_cast<long>(due_ns % kSecondNs)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
  }
}

void serve(Heap& heap, Mutator& mutator, Sessions& sessions, const Workload& workload,
           bool steps_when_idle, ServerRecord& record) {
  IdleSteps idle(heap);
  PauseWatch pauses(heap);
  const std::uint64_t start = platform::monotonic_ns() + kIntervalNs;
  for (std::size_t i = 0; i < workload.events; ++i) {
    const std::uint64_t due = start + i * kIntervalNs;
    if (steps_when_idle) idle.work_before(due);
    sleep_until(mutator, due);
    pauses.restart();
    const std::uint64_t cpu_before = platform::thread_cpu_ns();
    sessions.handle_event(workload.changed_by_event);
    const std::uint64_t end = platform::monotonic_ns();
    record.note({.due_ns = due - start,
                 .latency_ns = end - due,
                 .cpu_ns = platform::thread_cpu_ns() - cpu_before,
                 .pause_cpu_ns = pauses.longest_cpu_ns()});
  }
}

Metrics run(const ServerMode& mode, std::size_t live_bytes, std::vector<Series>& series) {
  HeapOptions options = HeapOptions::from_environment();
  if (mode.configure != nullptr) mode.configure(options);
  Heap heap(options);
  Mutator mutator(heap, "server");
  const Workload workload = workload_for(live_bytes, heap.options());
  std::optional<MajorPause> pause(heap);
  Sessions sessions(mutator, mode.tiny_heap ? workload.sessions / 256 + 1 : workload.sessions);
  // Every mode begins after a full collection.
  heap.collect();
  if (!mode.steps_when_idle) pause.reset();
  ServerRecord record(heap, workload.events);
  serve(heap, mutator, sessions, workload, mode.steps_when_idle, record);
  if (record.cycles() == 0 && !mode.tiny_heap) {
    throw std::runtime_error("no full collection ended while events came in: nothing is compared");
  }
  series = record.series();
  return record.metrics();
}

/// A twentieth of the memory, so that the heap with its garbage stays below an eighth, and at most
/// so much that a run ends in time.
std::size_t default_live_mib() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::clamp<std::uint64_t>(((pages * page) >> 20) / 20, 1, 768);
}

}  // namespace

std::vector<Row> server_rows(const Options& options) {
  constexpr std::uint64_t kMostMib = std::uint64_t{1} << 20;
  const std::uint64_t live_mib = options.n != 0 ? options.n : default_live_mib();
  if (live_mib > kMostMib) {
    throw BadOption(fmt::format("--n is MiB of live objects here, at most {}", kMostMib));
  }
  std::vector<Row> rows;
  for (const ServerMode& mode : server_modes()) {
    const auto series = std::make_shared<std::vector<Series>>();
    rows.push_back({mode.name,
                    [&mode, live_mib, series] { return run(mode, live_mib << 20, *series); },
                    nullptr, [series] { return *series; }});
  }
  return rows;
}

}  // namespace fallow::bench
