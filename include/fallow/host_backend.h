#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "fallow/device_backend.h"
#include "fallow/fault_injector.h"

namespace fallow::device {

namespace detail {
class HostStreams;
}  // namespace detail

/// Whether there are bytes behind the declared size.
enum class HostBytes : std::uint8_t {
  kNone,    ///< only declared: any size, costs nothing, cannot be written or read
  kBacked,  ///< ordinary memory, taken from the system at the first touch
};

struct HostBackendOptions {
  std::string name = "host";
  std::vector<DomainInfo> domains = {{"0", std::uint64_t{64} << 20, {}}};
  /// Distances, row by row; empty: 10 within a domain, 20 outside.
  std::vector<unsigned> distances{};
  HostBytes bytes = HostBytes::kBacked;
  /// Regions in all that reserve() hands out; 0: no limit.
  unsigned max_regions = 0;
  std::chrono::nanoseconds reserve_latency{0};
  std::chrono::nanoseconds release_latency{0};
  std::chrono::nanoseconds copy_latency{0};
};

/// A device in software: any declared size, domains and latencies, faults on demand, and streams on
/// which time is the only work. The embedded default, and the device of all tests. Thread-safe.
class HostBackend : public DeviceBackend {
 public:
  /// Throws OptionError.
  explicit HostBackend(HostBackendOptions options = {});
  ~HostBackend() override;

  [[nodiscard]] std::string name() const override { return options_.name; }
  [[nodiscard]] std::vector<DomainInfo> domains() const override { return options_.domains; }
  [[nodiscard]] unsigned distance(DomainId from, DomainId to) const override;
  [[nodiscard]] std::uint64_t free_bytes(DomainId domain) const override;
  bool reserve(DomainId domain, MemoryType type, std::uint64_t bytes,
               RegionMemory& memory) override;
  void release(DomainId domain, const RegionMemory& memory, std::uint64_t bytes) noexcept override;
  void write(const RegionMemory& to, std::uint64_t offset, const void* from,
             std::size_t bytes) override;
  void read(const RegionMemory& from, std::uint64_t offset, void* to, std::size_t bytes) override;
  std::uint64_t record(StreamId stream) noexcept override;
  std::uint64_t completed(StreamId stream) noexcept override;
  bool wait(StreamId stream, std::uint64_t number, Clock::time_point deadline) noexcept override;
  FaultInjector* faults() noexcept override { return &injector_; }

  FaultInjector& injector() noexcept { return injector_; }
  /// Submits work that takes so long after the work before it; returns its number.
  std::uint64_t submit(StreamId stream, std::chrono::nanoseconds duration);
  /// Submits work that ends when advance() says so.
  std::uint64_t submit_held(StreamId stream);
  /// Ends the first `count` held pieces of work of a stream.
  void advance(StreamId stream, std::uint64_t count = 1);

 private:
  HostBackendOptions options_;
  FaultInjector injector_;
  std::unique_ptr<detail::HostStreams> streams_;
  struct Books;
  std::unique_ptr<Books> books_;
};

}  // namespace fallow::device
