// Memory of an accelerator, handed out in blocks; reclaims garbage before it fails.
//
//     auto backend = std::make_shared<fallow::device::HostBackend>();
//     fallow::device::Device device(backend);
//     const auto block = device.allocate({.bytes = 1 << 20});
//     device.free(block);
//
// The device acquires regions from its backend and divides them. All books are in ordinary memory.
// Units: bytes. Thread-safety: everything may be called from any thread, except where stated.
//
// A thread that is attached to a host language (fallow/thread_hooks.h) is detached before anything
// here blocks. Freeing never blocks. In the child of a fork the device is unusable: frees do
// nothing and allocations throw DeviceUnusable.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fallow/device_backend.h"
#include "fallow/device_errors.h"
#include "fallow/device_options.h"
#include "fallow/device_statistics.h"
#include "fallow/device_trace.h"
#include "fallow/device_types.h"
#include "fallow/pressure.h"
#include "fallow/pressure_observer.h"

namespace fallow::device {

namespace detail {
class DeviceCore;
struct DeviceAccess;
}  // namespace detail

/// What an allocation is made of.
struct AllocationInfo {
  MemoryType type = MemoryType::kTensor;
  std::uint64_t bytes = 0;  ///< after rounding up
  std::vector<Chunk> chunks;
};

enum class DumpFormat : std::uint8_t { kText, kJson };

class Device {
 public:
  /// Acquires nothing yet. Throws OptionError.
  explicit Device(std::shared_ptr<DeviceBackend> backend, const DeviceOptions& options = {});
  /// Gives all regions back; allocations that still exist become stale. No thread may be inside.
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// O(1) while a region has room. Otherwise acquires a region; otherwise reclaims (see pressure.h)
  /// or waits while another thread does: in the order of arrival, and what becomes free meanwhile
  /// is reserved for those who wait. Zero bytes give the empty allocation.
  /// Throws OutOfDeviceMemory, RequestTooLarge, UsageError (alignment, placement), DeviceUnusable.
  Allocation allocate(const AllocationRequest& request);
  Allocation allocate(std::size_t bytes) { return allocate({.bytes = bytes}); }

  /// As allocate(), but without reclaiming and without waiting for others to reclaim: nothing when
  /// there is no room, or when others wait for it. May acquire a region.
  std::optional<Allocation> try_allocate(const AllocationRequest& request);

  /// Gives an allocation back. Never blocks: where the device is busy, the next thread that has it
  /// completes the free. The empty allocation is ignored. Throws StaleAllocation.
  void free(Allocation allocation) { free_after(allocation, {}); }
  /// The same, but the memory is not used again before the work submitted so far to these streams
  /// is done. Throws UsageError for more than four streams.
  void free_after(Allocation allocation, std::span<const StreamId> streams);

  /// Completes frees that are due. Called by allocations as needed; for programs that go idle.
  void poll();
  /// Gives empty regions back to the backend; returns their bytes.
  std::uint64_t trim();

  /// Throws StaleAllocation. The allocation must not be freed meanwhile in another thread: this
  /// goes for all members below that take one.
  [[nodiscard]] AllocationInfo describe(Allocation allocation) const;
  /// Copies between the host and an allocation. Throw StaleAllocation, UsageError (outside of the
  /// allocation), BackendError.
  void write(Allocation to, std::uint64_t offset, const void* from, std::size_t bytes);
  void read(Allocation from, std::uint64_t offset, void* to, std::size_t bytes) const;
  /// Where the host sees an allocation of one chunk; empty where it does not.
  [[nodiscard]] std::span<std::byte> host_view(Allocation allocation) const;

  [[nodiscard]] Registration add_responder(std::shared_ptr<PressureResponder> responder,
                                           ResponderOptions options = {});
  [[nodiscard]] Registration add_responder(std::function<PressureOutcome(const PressureInfo&)> body,
                                           ResponderOptions options = {});
  [[nodiscard]] Registration add_observer(std::shared_ptr<PressureObserver> observer);
  [[nodiscard]] Registration add_trace(std::shared_ptr<TraceSink> sink);

  /// O(regions).
  [[nodiscard]] DeviceStatistics statistics() const;
  /// In the order in which they are called.
  [[nodiscard]] std::vector<ResponderStatistics> responder_statistics() const;
  /// Peaks become what is in use now.
  void reset_peaks();
  /// Everything: statistics, regions, blocks. O(blocks).
  [[nodiscard]] std::string dump(DumpFormat format) const;

  /// False in the child of a fork.
  [[nodiscard]] bool usable() const noexcept;
  [[nodiscard]] const DeviceOptions& options() const noexcept;
  [[nodiscard]] DeviceBackend& backend() const noexcept;

 private:
  friend struct detail::DeviceAccess;
  std::unique_ptr<detail::DeviceCore> core_;
};

}  // namespace fallow::device
