#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fallow/device_types.h"

namespace fallow::device {

class FaultInjector;

/// A memory bank of a device.
struct DomainInfo {
  std::string name;
  std::uint64_t capacity_bytes = 0;
  std::vector<unsigned> cores;  ///< near this bank; empty: all are alike
};

/// Memory that a backend has handed out, in the backend's own terms.
struct RegionMemory {
  std::uint64_t id = 0;
  std::byte* host = nullptr;  ///< where the host sees its first byte; null where it does not
};

/// A device as the allocator sees it: the port to a driver. The allocator keeps its books in
/// ordinary memory and never touches the device's.
///
/// The members are called from any thread, several at a time, without any lock of the allocator
/// and by detached threads; they may block. They must not call the Device. Work on a stream is
/// numbered: record() says how much has been submitted so far, and that number is complete when all
/// of it has been done.
class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  /// Never changes.
  [[nodiscard]] virtual std::vector<DomainInfo> domains() const = 0;
  /// Cost of reaching `to` from `from`; 10 within a domain, more outside, as Linux counts.
  [[nodiscard]] virtual unsigned distance(DomainId from, DomainId to) const {
    return from == to ? 10 : 20;
  }
  /// Bytes that reserve() could hand out at most, as far as the device knows now.
  [[nodiscard]] virtual std::uint64_t free_bytes(DomainId domain) const = 0;

  /// Acquires `bytes` in a domain. False when the device has not so many.
  virtual bool reserve(DomainId domain, MemoryType type, std::uint64_t bytes,
                       RegionMemory& memory) = 0;
  virtual void release(DomainId domain, const RegionMemory& memory,
                       std::uint64_t bytes) noexcept = 0;

  /// Copies between host and device, or within the device. Done on return. Throw BackendError.
  virtual void write(const RegionMemory& to, std::uint64_t offset, const void* from,
                     std::size_t bytes) = 0;
  virtual void read(const RegionMemory& from, std::uint64_t offset, void* to,
                    std::size_t bytes) = 0;

  /// The number of the last work submitted to a stream. Does not block.
  virtual std::uint64_t record(StreamId stream) noexcept = 0;
  /// The largest number such that all work up to it has been done. Does not block.
  virtual std::uint64_t completed(StreamId stream) noexcept = 0;
  /// Waits until `number` is complete; false when the deadline came first.
  virtual bool wait(StreamId stream, std::uint64_t number, Clock::time_point deadline) noexcept = 0;

  /// Failures to produce on purpose; null for none. Asked once, when the device is created.
  virtual FaultInjector* faults() noexcept { return nullptr; }
};

}  // namespace fallow::device
