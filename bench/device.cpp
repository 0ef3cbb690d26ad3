// The random trace of docs/pressure.md: blocks of 128 B to 2 MiB, log-uniform, freed in random
// order, in a device of 8 GiB that is only declared.
#include "fallow/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench/benchmark.h"
#include "bench/runner.h"
#include "bench/stopwatch.h"
#include "fallow/host_backend.h"
#include "platform/split_mix.h"
#include "telemetry/histogram.h"

namespace fallow::bench {

namespace {

using device::Allocation;
using device::Device;
using device::FitStrategy;

constexpr std::uint64_t kCapacity = std::uint64_t{8} << 30;
constexpr std::uint64_t kSmallest = 128;
constexpr std::uint64_t kLargest = std::uint64_t{2} << 20;
constexpr std::size_t kLive = 4000;
constexpr std::uint64_t kDefaultRequests = 1'000'000;
/// Operations that are timed one by one, so that the clock's own time does not count elsewhere.
constexpr std::size_t kTimed = 200'000;
constexpr std::uint64_t kSeed = 20261130;

class Random : public platform::SplitMix64 {
 public:
  using SplitMix64::SplitMix64;
  double uniform() { return platform::unit_interval(next()); }
};

/// Sizes and victims, drawn before the clock starts.
struct Trace {
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint32_t> victims;
};

std::uint32_t draw_size(Random& random) {
  const double low = std::log(static_cast<double>(kSmallest));
  const double high = std::log(static_cast<double>(kLargest));
  return static_cast<std::uint32_t>(std::exp(low + (high - low) * random.uniform()));
}

Trace draw_trace(std::size_t requests, std::size_t live, std::uint64_t seed) {
  Random random(seed);
  Trace trace;
  for (std::size_t i = 0; i < requests; ++i) {
    trace.sizes.push_back(draw_size(random));
    trace.victims.push_back(static_cast<std::uint32_t>(random.next() % live));
  }
  return trace;
}

std::unique_ptr<Device> make_device(FitStrategy fit) {
  device::HostBackendOptions backend;
  backend.domains = {{"0", kCapacity, {}}};
  backend.bytes = device::HostBytes::kNone;
  device::DeviceOptions options;
  options.fit = fit;
  options.region_bytes = {kCapacity};
  return std::make_unique<Device>(std::make_shared<device::HostBackend>(backend), options);
}

std::vector<Allocation> fill(Device& device, std::size_t live, std::uint64_t seed) {
  Random random(seed);
  std::vector<Allocation> blocks;
  for (std::size_t i = 0; i < live; ++i) blocks.push_back(device.allocate(draw_size(random)));
  return blocks;
}

void replay(Device& device, std::vector<Allocation>& blocks, const Trace& trace) {
  for (std::size_t i = 0; i < trace.sizes.size(); ++i) {
    Allocation& victim = blocks[trace.victims[i]];
    device.free(victim);
    victim = device.allocate(trace.sizes[i]);
  }
}

/// The same with a clock around every operation.
telemetry::PauseHistogram::Snapshot time_each(Device& device, std::vector<Allocation>& blocks,
                                              const Trace& trace) {
  const auto histogram = std::make_unique<telemetry::PauseHistogram>();
  const double ns_per_tick = 1e9 / platform::ticks_per_second();
  const auto note = [&](std::uint64_t began) {
    histogram->record(
        static_cast<std::uint64_t>(static_cast<double>(platform::ticks() - began) * ns_per_tick));
  };
  for (std::size_t i = 0; i < trace.sizes.size(); ++i) {
    Allocation& victim = blocks[trace.victims[i]];
    const std::uint64_t before_free = platform::ticks();
    device.free(victim);
    note(before_free);
    const std::uint64_t before_allocate = platform::ticks();
    victim = device.allocate(trace.sizes[i]);
    note(before_allocate);
  }
  return histogram->snapshot();
}

Metrics run_speed(FitStrategy fit, std::size_t requests) {
  const auto device = make_device(fit);
  std::vector<Allocation> blocks = fill(*device, kLive, kSeed);
  replay(*device, blocks, draw_trace(std::min(requests, kTimed), kLive, kSeed + 1));
  const Trace trace = draw_trace(requests, kLive, kSeed + 2);
  const Stopwatch watch;
  replay(*device, blocks, trace);
  const double operations = 2 * static_cast<double>(requests);
  const double wall_ns = watch.wall_s() * 1e9;
  const double cpu_ns = watch.cpu_s() * 1e9;
  const auto each =
      time_each(*device, blocks, draw_trace(std::min(requests, kTimed), kLive, kSeed + 3));
  return {{"ns_per_op", wall_ns / operations},
          {"cpu_ns_per_op", cpu_ns / operations},
          {"p50_ns", static_cast<double>(each.percentile(0.5))},
          {"p99_ns", static_cast<double>(each.percentile(0.99))}};
}

/// All threads share the live blocks' number and the requests between them.
Metrics run_threads(std::size_t threads, std::size_t requests) {
  const auto device = make_device(FitStrategy::kSegregated);
  const std::size_t live = kLive / threads;
  std::latch ready(static_cast<std::ptrdiff_t>(threads) + 1);
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      std::vector<Allocation> blocks = fill(*device, live, kSeed + i);
      const Trace trace = draw_trace(requests / threads, live, kSeed + 100 + i);
      ready.arrive_and_wait();
      replay(*device, blocks, trace);
    });
  }
  ready.arrive_and_wait();
  const Stopwatch watch;
  for (std::thread& worker : workers) worker.join();
  const double operations = 2 * static_cast<double>(requests / threads * threads);
  return {{"ns_per_op", watch.wall_s() * 1e9 / operations},
          {"cpu_ns_per_op", watch.process_cpu_s() * 1e9 / operations},
          {"deferred_frees", static_cast<double>(device->statistics().deferred_frees)}};
}

/// How full the device is at the first request that does not fit, while it is filled beyond its
/// size by a mix of three allocations to a free of a random block.
Metrics run_occupancy(FitStrategy fit) {
  const auto device = make_device(fit);
  Random random(kSeed);
  std::vector<Allocation> blocks;
  for (;;) {
    if (random.next() % 4 == 0 && !blocks.empty()) {
      std::swap(blocks[random.next() % blocks.size()], blocks.back());
      device->free(blocks.back());
      blocks.pop_back();
      continue;
    }
    const auto block = device->try_allocate({.bytes = draw_size(random)});
    if (!block) break;
    blocks.push_back(*block);
  }
  const auto usage = device->statistics().domains[0].usage[0];
  return {{"occupancy_percent",
           100 * static_cast<double>(usage.current_bytes) / static_cast<double>(kCapacity)},
          {"blocks", static_cast<double>(usage.current_blocks)},
          {"fragmentation", usage.fragmentation()}};
}

}  // namespace

std::vector<Row> device_rows(const Options& options) {
  const auto requests = static_cast<std::size_t>(options.n != 0 ? options.n : kDefaultRequests);
  std::vector<Row> rows;
  const auto add_strategy = [&rows](const char* name, FitStrategy fit, std::size_t count) {
    rows.push_back(
        {fmt::format("{}/1", name), [fit, count] { return run_speed(fit, count); }, nullptr});
  };
  add_strategy("segregated", FitStrategy::kSegregated, requests);
  for (const std::size_t threads : {2, 4, 8}) {
    rows.push_back({fmt::format("segregated/{}", threads),
                    [threads, requests] { return run_threads(threads, requests); }, nullptr});
  }
  // The others are so much slower that fewer requests give the same precision.
  add_strategy("best", FitStrategy::kBest, requests);
  add_strategy("first", FitStrategy::kFirst, requests / 20 + 1);
  for (const auto& [name, strategy] : {std::pair{"segregated/occupancy", FitStrategy::kSegregated},
                                       std::pair{"best/occupancy", FitStrategy::kBest},
                                       std::pair{"first/occupancy", FitStrategy::kFirst}}) {
    rows.push_back({name, [fit = strategy] { return run_occupancy(fit); }, nullptr});
  }
  return rows;
}

}  // namespace fallow::bench
