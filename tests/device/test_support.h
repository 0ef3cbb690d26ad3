// What all tests of devices share.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device_core.h"
#include "fallow/detail/build_config.h"
#include "fallow/device.h"
#include "fallow/host_backend.h"
#include "platform/split_mix.h"
#include "tests/support.h"

namespace fallow::test {

/// Fewer repetitions where each takes much longer.
constexpr std::size_t scaled(std::size_t count) { return kSanitized ? count / 20 + 1 : count; }

class Random : public platform::SplitMix64 {
 public:
  using SplitMix64::SplitMix64;
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
};

/// A device over a HostBackend.
struct TestDevice {
  explicit TestDevice(device::HostBackendOptions host, const device::DeviceOptions& options = {})
      : backend(std::make_shared<device::HostBackend>(std::move(host))), device(backend, options) {}
  explicit TestDevice(std::size_t bytes, const device::DeviceOptions& options = {})
      : TestDevice(of_size(bytes), options) {}

  static device::HostBackendOptions of_size(std::size_t bytes, std::size_t domains = 1) {
    device::HostBackendOptions host;
    host.domains.clear();
    for (std::size_t i = 0; i < domains; ++i) {
      host.domains.push_back({std::to_string(i), bytes, {}});
    }
    return host;
  }

  [[nodiscard]] device::UsageStatistics usage(
      device::DomainId domain = 0, device::MemoryType type = device::MemoryType::kTensor) const {
    return device.statistics().domains[domain].usage[static_cast<std::size_t>(type)];
  }
  [[nodiscard]] device::PressureStatistics pressure(device::DomainId domain = 0) const {
    return device.statistics().domains[domain].pressure;
  }
  bool consistent() {
    auto& core = device::detail::DeviceAccess::core(device);
    const device::detail::DeviceCore::Locked lock(core);
    return core.pool.consistent();
  }

  std::shared_ptr<device::HostBackend> backend;
  device::Device device;
};

/// Options under which every request that fails has climbed the ladder.
inline device::DeviceOptions undamped() {
  device::DeviceOptions options;
  options.damper_interval = std::chrono::nanoseconds(0);
  return options;
}

}  // namespace fallow::test
