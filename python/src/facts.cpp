#include "facts.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

namespace nb = nanobind;

namespace fallow::python {

namespace {

constexpr double kSecondsPerNs = 1e-9;

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

/// None for no reason.
nb::object name_or_none(SkipReason reason) {
  return reason == SkipReason::kNone ? nb::none() : nb::object(nb::str(fallow::name_of(reason)));
}

nb::dict facts_of(const device::ResponderShare& share) {
  nb::dict facts;
  facts["name"] = share.name;
  facts["bytes"] = share.bytes;
  facts["calls"] = share.calls;
  facts["seconds"] = seconds(share.ns);
  facts["skipped"] = name_or_none(share.skipped);
  facts["frozen_objects"] = share.frozen_objects;
  facts["failure"] = share.failure;
  return facts;
}

nb::dict facts_of(const device::UsageStatistics& usage) {
  nb::dict facts;
  facts["current_bytes"] = usage.current_bytes;
  facts["peak_bytes"] = usage.peak_bytes;
  facts["total_bytes"] = usage.total_bytes;
  facts["current_blocks"] = usage.current_blocks;
  facts["peak_blocks"] = usage.peak_blocks;
  facts["total_blocks"] = usage.total_blocks;
  facts["regions"] = usage.regions;
  facts["reserved_bytes"] = usage.reserved_bytes;
  facts["free_bytes"] = usage.free_bytes;
  facts["largest_free"] = usage.largest_free;
  facts["in_flight_bytes"] = usage.in_flight_bytes;
  facts["emergency_bytes"] = usage.emergency_bytes;
  facts["emergency_free_bytes"] = usage.emergency_free_bytes;
  facts["fragmentation"] = usage.fragmentation();
  return facts;
}

nb::dict facts_of(const device::PressureStatistics& pressure) {
  nb::dict facts;
  facts["windows"] = pressure.windows;
  facts["waits"] = pressure.waits;
  facts["served_waiting"] = pressure.served_waiting;
  facts["grown"] = pressure.grown;
  facts["regions_released"] = pressure.regions_released;
  facts["damped"] = pressure.damped;
  facts["failed"] = pressure.failed;
  facts["watermark_passes"] = pressure.watermark_passes;
  facts["reclaimed_bytes"] = pressure.reclaimed_bytes;
  facts["reclaim_seconds"] = seconds(pressure.reclaim_ns);
  return facts;
}

}  // namespace

const char* name_of(CostClass cost) noexcept {
  switch (cost) {
    case CostClass::kCache:
      return "cache";
    case CostClass::kNative:
      return "native";
    case CostClass::kScript:
      return "script";
    case CostClass::kSpill:
      return "spill";
  }
  return "?";
}

const char* name_of(PressureLevel level) noexcept {
  switch (level) {
    case PressureLevel::kSoft:
      return "soft";
    case PressureLevel::kHard:
      return "hard";
    case PressureLevel::kLast:
      return "last";
  }
  return "?";
}

nb::dict facts_of(const device::OutOfMemoryReport& report) {
  nb::dict facts;
  nb::list responders;
  std::size_t frozen = 0;
  for (const device::ResponderShare& share : report.responders) {
    responders.append(facts_of(share));
    frozen += share.frozen_objects;
  }
  facts["requested"] = report.request.bytes;
  facts["type"] = device::name_of(report.request.type);
  facts["given_up"] = device::name_of(report.given_up);
  facts["domain"] = report.domain;
  facts["wanted"] = report.wanted_bytes;
  facts["capacity"] = report.capacity_bytes;
  facts["reserved"] = report.reserved_bytes;
  facts["free"] = report.free_bytes;
  facts["largest_free"] = report.largest_free;
  facts["in_flight"] = report.in_flight_bytes;
  facts["fragmentation"] = report.fragmentation;
  facts["waited_seconds"] = seconds(report.waited_ns);
  facts["reclaimed"] = report.reclaimed_bytes;
  facts["rounds"] = report.rounds;
  facts["holder_thread"] = report.holder_thread;
  facts["holder_responder"] = report.holder_responder;
  facts["frozen_objects"] = frozen;
  facts["responders"] = responders;
  return facts;
}

nb::dict facts_of(const device::DeviceStatistics& statistics) {
  nb::list domains;
  for (const device::DomainStatistics& each : statistics.domains) {
    nb::dict domain;
    domain["name"] = each.name;
    domain["capacity_bytes"] = each.capacity_bytes;
    for (const auto type : {device::MemoryType::kTensor, device::MemoryType::kProgram}) {
      domain[device::name_of(type)] = facts_of(each.usage[static_cast<std::size_t>(type)]);
    }
    domain["pressure"] = facts_of(each.pressure);
    domains.append(domain);
  }
  nb::dict facts;
  facts["domains"] = domains;
  facts["allocations"] = statistics.allocations;
  facts["frees"] = statistics.frees;
  facts["deferred_frees"] = statistics.deferred_frees;
  return facts;
}

nb::dict facts_of(const ResponderStatistics& statistics) {
  nb::dict skips;
  for (std::size_t reason = 1; reason < kSkipReasons; ++reason) {
    if (statistics.skips[reason] == 0) continue;
    skips[fallow::name_of(static_cast<SkipReason>(reason))] = statistics.skips[reason];
  }
  nb::dict facts;
  facts["name"] = statistics.name;
  facts["cost"] = name_of(statistics.cost);
  facts["priority"] = statistics.priority;
  facts["calls"] = statistics.calls;
  facts["bytes"] = statistics.bytes;
  facts["seconds"] = seconds(statistics.ns);
  facts["failures"] = statistics.failures;
  facts["skips"] = skips;
  facts["last_failure"] = statistics.last_failure;
  return facts;
}

nb::dict facts_of(const ResponderEvent& event) {
  nb::dict facts;
  facts["responder"] = event.responder;
  facts["level"] = name_of(event.info.level);
  facts["domain"] = event.info.domain;
  facts["wanted"] = event.info.bytes_wanted;
  facts["attempt"] = event.info.attempt;
  facts["round"] = event.info.round;
  facts["freed"] = event.freed_bytes;
  facts["seconds"] = seconds(event.ns);
  facts["skipped"] = name_or_none(event.outcome.skipped);
  facts["failed"] = event.failed;
  return facts;
}

nb::dict facts_of(const PressureWindowEvent& event) {
  nb::dict facts;
  facts["domain"] = event.domain;
  facts["wanted"] = event.wanted_bytes;
  facts["satisfied"] = event.satisfied;
  facts["reclaimed"] = event.reclaimed_bytes;
  facts["seconds"] = seconds(event.ns);
  return facts;
}

}  // namespace fallow::python
