#include "tools/fallow/device_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_map>

#include "fallow/host_backend.h"
#include "platform/clock.h"
#include "telemetry/size_parser.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

using device::Allocation;
using device::TraceEvent;

std::uint64_t chosen_capacity(const DeviceTrace& trace, const ReplayOptions& options) {
  if (options.capacity_bytes != 0) return options.capacity_bytes;
  return std::bit_ceil(std::max<std::uint64_t>(2 * trace.peak_bytes, 1 << 20));
}

std::unique_ptr<device::Device> make_device(std::uint64_t capacity, device::FitStrategy fit) {
  device::HostBackendOptions host;
  host.name = "replay";
  host.domains = {{"0", capacity, {}}};
  host.bytes = device::HostBytes::kNone;
  device::DeviceOptions options;
  options.fit = fit;
  options.region_bytes = {capacity};
  return std::make_unique<device::Device>(std::make_shared<device::HostBackend>(host), options);
}

class Replay {
 public:
  Replay(device::Device& device, ReplayResult& result) : device_(device), result_(result) {}

  void play(const TraceEvent& event) {
    switch (event.action) {
      case TraceEvent::Action::kAllocate:
        allocate(event);
        break;
      case TraceEvent::Action::kFree:
        free(event);
        break;
      case TraceEvent::Action::kAllocateFailure:
        ++result_.failures_recorded;
        break;
    }
  }
  [[nodiscard]] std::uint64_t live() const { return live_.size(); }

 private:
  void allocate(const TraceEvent& event) {
    ++result_.allocations;
    std::optional<Allocation> block;
    try {
      block = device_.try_allocate({.bytes = event.bytes});
    } catch (const device::RequestTooLarge&) {
      block = std::nullopt;
    }
    if (!block) ++result_.failures;
    Allocation& place = live_[event.allocation];
    device_.free(place);
    place = block.value_or(Allocation());
  }

  void free(const TraceEvent& event) {
    const auto found = live_.find(event.allocation);
    if (found == live_.end()) {
      ++result_.unknown_frees;
      return;
    }
    ++result_.frees;
    device_.free(found->second);
    live_.erase(found);
  }

  device::Device& device_;
  ReplayResult& result_;
  std::unordered_map<std::uint64_t, Allocation> live_;
};

// Where most is in use, by the requests of the trace.
std::size_t place_of_peak(const DeviceTrace& trace) {
  std::unordered_map<std::uint64_t, std::uint64_t> live;
  std::uint64_t now = 0;
  std::uint64_t most = 0;
  std::size_t place = 0;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& event = trace.events[i];
    if (event.action == TraceEvent::Action::kAllocateFailure) continue;
    auto& bytes = live[event.allocation];
    now -= bytes;
    bytes = event.action == TraceEvent::Action::kAllocate ? event.bytes : 0;
    now += bytes;
    if (now > most) {
      most = now;
      place = i + 1;
    }
  }
  return place;
}

}  // namespace

DeviceTrace read_device_trace(std::istream& input) {
  DeviceTrace trace;
  std::unordered_map<std::uint64_t, std::uint64_t> live;
  std::uint64_t bytes = 0;
  std::string line;
  for (bool first = true; std::getline(input, line); first = false) {
    TraceEvent event;
    if (!device::parse_trace_line(line, event)) {
      if (!first || !line.starts_with("Thread,")) ++trace.skipped_lines;
      continue;
    }
    trace.events.push_back(event);
    if (event.action == TraceEvent::Action::kAllocateFailure) continue;
    std::uint64_t& size = live[event.allocation];
    bytes -= size;
    size = event.action == TraceEvent::Action::kAllocate ? event.bytes : 0;
    bytes += size;
    trace.peak_bytes = std::max(trace.peak_bytes, bytes);
  }
  if (trace.events.empty()) {
    throw std::runtime_error("no line has the form Thread,Time,Action,Pointer,Size,Stream");
  }
  return trace;
}

ReplayResult replay_device_trace(const DeviceTrace& trace, const ReplayOptions& options) {
  ReplayResult result;
  result.capacity_bytes = chosen_capacity(trace, options);
  const auto device = make_device(result.capacity_bytes, options.fit);
  Replay replay(*device, result);
  const std::size_t peak = place_of_peak(trace);
  const std::uint64_t began = platform::monotonic_ns();
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    replay.play(trace.events[i]);
    if (i + 1 == peak) {
      result.fragmentation_at_peak = device->statistics().domains[0].usage[0].fragmentation();
    }
  }
  result.ns_per_operation = static_cast<double>(platform::monotonic_ns() - began) /
                            static_cast<double>(trace.events.size());
  result.leaked = replay.live();
  result.peak_requested = trace.peak_bytes;
  result.peak_used = device->statistics().domains[0].usage[0].peak_bytes;
  return result;
}

std::string replay_as_text(const ReplayResult& result) {
  using telemetry::format_bytes;
  std::string text = fmt::format(
      "device          {}\n"
      "allocations     {}, {} failed here, {} failed in the trace\n"
      "frees           {}, {} of what the trace does not allocate\n"
      "never freed     {}\n"
      "peak            {} requested, {} in blocks\n"
      "at the peak     fragmentation {:.3f}\n"
      "time            {:.1f} ns an operation\n",
      format_bytes(result.capacity_bytes), format_count(result.allocations),
      format_count(result.failures), format_count(result.failures_recorded),
      format_count(result.frees), format_count(result.unknown_frees), format_count(result.leaked),
      format_bytes(result.peak_requested), format_bytes(result.peak_used),
      result.fragmentation_at_peak, result.ns_per_operation);
  return text;
}

std::string replay_as_json(const ReplayResult& result) {
  const nlohmann::ordered_json document = {{"capacity_bytes", result.capacity_bytes},
                                           {"allocations", result.allocations},
                                           {"failures", result.failures},
                                           {"failures_recorded", result.failures_recorded},
                                           {"frees", result.frees},
                                           {"unknown_frees", result.unknown_frees},
                                           {"leaked", result.leaked},
                                           {"peak_requested_bytes", result.peak_requested},
                                           {"peak_used_bytes", result.peak_used},
                                           {"fragmentation_at_peak", result.fragmentation_at_peak},
                                           {"ns_per_operation", result.ns_per_operation}};
  return document.dump(2) + "\n";
}

}  // namespace fallow::tool
