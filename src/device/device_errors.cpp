#include "fallow/device_errors.h"

#include <cstdio>
#include <utility>

#include "telemetry/size_parser.h"

namespace fallow {

const char* name_of(SkipReason reason) noexcept {
  switch (reason) {
    case SkipReason::kNone:
      return "none";
    case SkipReason::kDisabled:
      return "disabled";
    case SkipReason::kBusy:
      return "busy";
    case SkipReason::kReentrant:
      return "re-entrant";
    case SkipReason::kFinalizing:
      return "finalizing";
    case SkipReason::kForked:
      return "forked";
    case SkipReason::kOutOfTime:
      return "out of time";
    case SkipReason::kDamped:
      return "damped";
  }
  return "?";
}

}  // namespace fallow

namespace fallow::device {

namespace {

using telemetry::format_bytes;

std::string describe(const ResponderShare& share) {
  std::string text = share.name + " gave " + format_bytes(share.bytes) + " in " +
                     std::to_string(share.calls) + (share.calls == 1 ? " call" : " calls");
  if (share.skipped != SkipReason::kNone) text += std::string(", ") + name_of(share.skipped);
  if (share.frozen_objects != 0) {
    text += ", frozen objects: " + std::to_string(share.frozen_objects);
  }
  if (!share.failure.empty()) text += ", failed: " + share.failure;
  return text;
}

std::string describe(const OutOfMemoryReport& report) {
  char fragmentation[32];
  std::snprintf(fragmentation, sizeof fragmentation, "%.0f %%", report.fragmentation * 100);
  std::string text = "fallow: out of device memory in domain " + std::to_string(report.domain) +
                     ": " + format_bytes(report.request.bytes) + " of " +
                     name_of(report.request.type) + " memory requested, " +
                     format_bytes(report.free_bytes) + " free of " +
                     format_bytes(report.reserved_bytes) + ", largest free block " +
                     format_bytes(report.largest_free) + ", fragmentation " + fragmentation +
                     ", capacity " + format_bytes(report.capacity_bytes);
  if (report.in_flight_bytes != 0) {
    text += ", in flight " + format_bytes(report.in_flight_bytes);
  }
  text += std::string("; given up: ") + name_of(report.given_up);
  if (report.holder_thread != 0) {
    text += " while thread " + std::to_string(report.holder_thread) + " was reclaiming";
    if (!report.holder_responder.empty()) text += " in " + report.holder_responder;
  }
  if (report.reclaimed_bytes != 0) text += "; reclaimed " + format_bytes(report.reclaimed_bytes);
  for (const ResponderShare& share : report.responders) text += "; " + describe(share);
  return text;
}

}  // namespace

const char* name_of(GivenUp reason) noexcept {
  switch (reason) {
    case GivenUp::kNothingLeft:
      return "nothing left";
    case GivenUp::kDamped:
      return "damped, too early after the last failure";
    case GivenUp::kOutOfTime:
      return "out of time";
    case GivenUp::kNested:
      return "asked for inside a responder or a collection";
    case GivenUp::kInterrupted:
      return "interrupted";
    case GivenUp::kInjected:
      return "injected fault";
    case GivenUp::kNoMetadata:
      return "no host memory for the books";
  }
  return "?";
}

OutOfDeviceMemory::OutOfDeviceMemory(OutOfMemoryReport report)
    : DeviceError(describe(report)),
      report_(std::make_shared<const OutOfMemoryReport>(std::move(report))) {}

RequestTooLarge::RequestTooLarge(std::size_t bytes, std::size_t alignment,
                                 std::uint64_t largest_possible)
    : DeviceError("fallow: no region of the device can hold " + format_bytes(bytes) +
                  (alignment != 0 ? " at an alignment of " + std::to_string(alignment) : "") +
                  "; the most that can be asked for here is " + format_bytes(largest_possible)),
      bytes_(bytes),
      largest_possible_(largest_possible) {}

StaleAllocation::StaleAllocation(std::uint64_t number, const char* what)
    : DeviceError("fallow: allocation " + std::to_string(number) + " cannot be " + what +
                  ": it was freed already, or belongs to another device"),
      number_(number) {}

}  // namespace fallow::device
