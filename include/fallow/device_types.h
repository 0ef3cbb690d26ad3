#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fallow::device {

namespace detail {
struct AllocationAccess;
}  // namespace detail

/// What a region holds. A region has one type and never serves another.
enum class MemoryType : std::uint8_t { kTensor, kProgram };
inline constexpr std::size_t kMemoryTypes = 2;

/// "tensor" or "program".
constexpr const char* name_of(MemoryType type) noexcept {
  return type == MemoryType::kTensor ? "tensor" : "program";
}

/// A memory bank: its place in DeviceBackend::domains(). At most kMaxDomains.
using DomainId = std::uint32_t;
inline constexpr std::size_t kMaxDomains = 64;

/// A queue of work on the device, as the backend numbers it.
using StreamId = std::uint32_t;

/// All deadlines are moments of this clock.
using Clock = std::chrono::steady_clock;

/// Device memory, without an address: a plain value that may be copied and compared. It is checked
/// at every use, so that one that was freed, or belongs to another device, is an error and never
/// somebody else's memory. The empty one stands for zero bytes.
class Allocation {
 public:
  constexpr Allocation() noexcept = default;
  constexpr explicit operator bool() const noexcept { return serial_ != 0; }
  /// Never used twice by a device; 0 for the empty one.
  [[nodiscard]] constexpr std::uint64_t number() const noexcept { return serial_; }
  friend constexpr bool operator==(const Allocation&, const Allocation&) noexcept = default;

 private:
  friend struct detail::AllocationAccess;
  std::uint64_t serial_ = 0;
  std::uint32_t slot_ = 0;
  std::uint32_t device_ = 0;
};

/// Where an allocation is to lie: in one domain, or in equal parts in several.
class Placement {
 public:
  /// In domain 0.
  constexpr Placement() noexcept = default;
  /// All of it in one domain.
  static constexpr Placement bind(DomainId domain) noexcept { return Placement(bit(domain)); }
  /// ceil(bytes / domains) in each domain of the set, bit d for domain d; fewer where little is
  /// asked for. All parts are allocated, or none.
  static constexpr Placement interleave(std::uint64_t domain_set) noexcept {
    return Placement(domain_set);
  }
  [[nodiscard]] constexpr std::uint64_t domain_set() const noexcept { return domain_set_; }

 private:
  /// A domain that cannot exist gives the empty set, which every device refuses.
  static constexpr std::uint64_t bit(DomainId domain) noexcept {
    return domain < kMaxDomains ? std::uint64_t{1} << domain : 0;
  }
  constexpr explicit Placement(std::uint64_t domain_set) noexcept : domain_set_(domain_set) {}
  std::uint64_t domain_set_ = 1;
};

/// What is asked of a device.
struct AllocationRequest {
  std::size_t bytes = 0;
  /// Of the offset in its region: a power of two; 0: DeviceOptions::alignment.
  std::size_t alignment = 0;
  MemoryType type = MemoryType::kTensor;
  Placement placement{};
  /// How long the request may wait and reclaim; zero: DeviceOptions::pressure_budget.
  std::chrono::nanoseconds budget{0};
};

/// A part of an allocation.
struct Chunk {
  DomainId domain = 0;
  std::uint32_t region = 0;
  std::uint64_t offset = 0;  ///< in the region
  std::uint64_t bytes = 0;   ///< after rounding up
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

}  // namespace fallow::device
