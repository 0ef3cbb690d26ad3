// What all tests of devices share.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device_core.h"
#include "fallow/detail/build_config.h"
#include "fallow/device.h"
#include "fallow/host_backend.h"
#include "platform/sanitizer.h"

namespace fallow::test {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr bool kSanitized =
    platform::address_sanitizer_active() || platform::thread_sanitizer_active();

/// Fewer repetitions where each takes much longer.
constexpr std::size_t scaled(std::size_t count) { return kSanitized ? count / 20 + 1 : count; }

/// Ends the program when a test hangs.
class Watchdog {
 public:
  explicit Watchdog(unsigned seconds = 120) { alarm(kSanitized ? seconds * 2 : seconds); }
  ~Watchdog() { alarm(0); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

/// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

 private:
  std::uint64_t state_;
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
