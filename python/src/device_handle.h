#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "shared_device.h"

namespace fallow::python {

/// fallow.device.Device: a reference that can be closed.
class DeviceHandle {
 public:
  explicit DeviceHandle(std::shared_ptr<SharedDevice> shared) : shared_(std::move(shared)) {}

  /// Throws UsageError when it has been closed.
  [[nodiscard]] const std::shared_ptr<SharedDevice>& shared() const {
    if (shared_ == nullptr) throw UsageError("fallow: the device has been closed");
    return shared_;
  }
  [[nodiscard]] device::Device& device() const { return shared()->device; }
  [[nodiscard]] bool closed() const noexcept { return shared_ == nullptr; }
  void close() noexcept { shared_.reset(); }

 private:
  std::shared_ptr<SharedDevice> shared_;
};

void bind_device(nanobind::module_& module);

}  // namespace fallow::python
