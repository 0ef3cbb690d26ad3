// What can go wrong with device memory. All of these are fallow::Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fallow/device_types.h"
#include "fallow/error.h"
#include "fallow/pressure.h"

namespace fallow::device {

class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Why a request was given up.
enum class GivenUp : std::uint8_t {
  kNothingLeft,  ///< the whole ladder did not find enough
  /// A ladder that began after the request found nothing for another one, or the request's budget
  /// was spent while it was too early for the next ladder.
  kDamped,
  kOutOfTime,    ///< the request's budget was spent
  kNested,       ///< asked for inside a responder or a collection, where nobody may wait
  kInterrupted,  ///< ThreadHooks::interrupted said so
  kInjected,     ///< a FaultInjector said so
  kNoMetadata,   ///< the host had no memory for the books
};

/// "nothing left", "damped", …
const char* name_of(GivenUp reason) noexcept;

/// What one responder did for one request.
struct ResponderShare {
  std::string name;
  std::uint64_t bytes = 0;
  unsigned calls = 0;
  std::uint64_t ns = 0;
  SkipReason skipped = SkipReason::kNone;  ///< the last reason
  std::size_t frozen_objects = 0;
  std::string failure;  ///< the last one
};

/// The facts of an allocation that failed. Holds no memory of the device.
struct OutOfMemoryReport {
  AllocationRequest request;
  GivenUp given_up = GivenUp::kNothingLeft;
  DomainId domain = 0;                ///< the one that had no room
  std::uint64_t wanted_bytes = 0;     ///< there, after rounding
  std::uint64_t capacity_bytes = 0;   ///< of the domain
  std::uint64_t reserved_bytes = 0;   ///< in regions of this type
  std::uint64_t free_bytes = 0;       ///< in regions of this type
  std::uint64_t largest_free = 0;     ///< largest free block of this type
  std::uint64_t in_flight_bytes = 0;  ///< freed, and still used by a stream
  double fragmentation = 0;           ///< 1 - largest_free / free_bytes; 0 without free bytes
  std::uint64_t waited_ns = 0;
  std::uint64_t reclaimed_bytes = 0;  ///< given back by responders for this request
  unsigned rounds = 0;                ///< passes over the responders
  /// The thread that was reclaiming when this one gave up waiting, and the responder it was in.
  std::uint64_t holder_thread = 0;
  std::string holder_responder;
  std::vector<ResponderShare> responders;
};

/// There is no memory for a request. Nothing was allocated. The device stays usable.
class OutOfDeviceMemory : public DeviceError {
 public:
  explicit OutOfDeviceMemory(OutOfMemoryReport report);
  [[nodiscard]] const OutOfMemoryReport& report() const noexcept { return *report_; }

 private:
  /// Shared, so that copying the exception cannot throw.
  std::shared_ptr<const OutOfMemoryReport> report_;
};

/// A size that no region of the device can ever hold. No memory was looked for, nothing reclaimed.
class RequestTooLarge : public DeviceError {
 public:
  RequestTooLarge(std::size_t bytes, std::size_t alignment, std::uint64_t largest_possible);
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t largest_possible() const noexcept { return largest_possible_; }

 private:
  std::size_t bytes_;
  std::uint64_t largest_possible_;
};

/// An Allocation that was freed already, or that belongs to another device.
class StaleAllocation : public DeviceError {
 public:
  explicit StaleAllocation(std::uint64_t number, const char* what);
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

 private:
  std::uint64_t number_;
};

/// The device cannot be used in this process: it was created before a fork, by the parent.
class DeviceUnusable : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// The backend refused or failed an operation other than acquiring memory.
class BackendError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace fallow::device
