#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "fallow/device.h"
#include "fallow/host_backend.h"

namespace fallow::python {

/// A device and what belongs to it. Shared by everything that uses it, so that it lives until the
/// last buffer is gone, in whatever order Python drops things.
class SharedDevice {
 public:
  /// `collects`: Python's garbage is collected under pressure. Throws OptionError.
  SharedDevice(device::HostBackendOptions host, const device::DeviceOptions& options,
               bool collects);

  const std::shared_ptr<device::HostBackend> backend;
  device::Device device;

 private:
  Registration collection_;
};

/// The memory of one buffer: freed with the last of its owners, in any thread, attached or not, and
/// in any state of the interpreter.
class Storage {
 public:
  /// Throws as Device::allocate does.
  Storage(std::shared_ptr<SharedDevice> owner, const device::AllocationRequest& request);
  /// Null when there is no room.
  static std::shared_ptr<Storage> try_allocate(std::shared_ptr<SharedDevice> owner,
                                               const device::AllocationRequest& request);
  /// Takes an allocation over.
  Storage(std::shared_ptr<SharedDevice> owner, device::Allocation allocation, std::size_t bytes)
      : owner_(std::move(owner)), bytes_(bytes), allocation_(allocation) {}
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  [[nodiscard]] SharedDevice& owner() const noexcept { return *owner_; }
  [[nodiscard]] device::Allocation allocation() const noexcept { return allocation_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Where the host sees it, or null. Remembered.
  [[nodiscard]] std::byte* host() const;
  /// Frees it once the work so far on these streams is done; the destructor has nothing to do then.
  void free_after(std::span<const device::StreamId> streams);

 private:
  const std::shared_ptr<SharedDevice> owner_;
  const std::size_t bytes_;
  device::Allocation allocation_;
  mutable std::atomic<std::byte*> host_{nullptr};
};

}  // namespace fallow::python
