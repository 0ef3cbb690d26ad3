#pragma once

#include <cstdint>
#include <string_view>

#include "fallow/device_errors.h"
#include "fallow/pressure.h"

namespace fallow {

/// A responder has answered.
struct ResponderEvent {
  std::string_view responder;
  const PressureInfo& info;
  const PressureOutcome& outcome;
  std::uint64_t freed_bytes;
  std::uint64_t ns;
  bool failed;  ///< it threw, or broke its contract
};

/// A thread has come down from the ladder.
struct PressureWindowEvent {
  device::DomainId domain;
  std::uint64_t wanted_bytes;
  bool satisfied;
  std::uint64_t reclaimed_bytes;
  std::uint64_t ns;
};

/// Told what happens under pressure, by the thread that it happens to, detached and without any
/// lock of the device. May use the device. What it throws is dropped.
class PressureObserver {
 public:
  virtual ~PressureObserver() = default;
  virtual void on_responder(const ResponderEvent&) {}
  virtual void on_window(const PressureWindowEvent&) {}
  /// Just before the error is thrown.
  virtual void on_out_of_memory(const device::OutOfMemoryReport&) {}
};

}  // namespace fallow
