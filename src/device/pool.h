#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/block_pool.h"
#include "device/region.h"
#include "fallow/device_backend.h"
#include "fallow/device_options.h"
#include "fallow/device_statistics.h"
#include "fallow/device_types.h"

namespace fallow::device::detail {

/// A request, checked and rounded.
struct PoolRequest {
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;
  std::uint64_t requested = 0;  ///< before rounding
  std::uint64_t domain_set = 1;
  std::uint32_t domains = 1;  ///< in the set
  MemoryType type = MemoryType::kTensor;
  bool emergency = false;  ///< may use what is set aside

  /// What the request needs in one domain.
  [[nodiscard]] std::uint64_t chunk_bytes() const noexcept {
    if (domains == 1) return bytes;
    const std::uint64_t part = (bytes + domains - 1) / domains;
    return (part + alignment - 1) & ~(alignment - 1);
  }
};

/// The regions of one domain, and what was counted there.
struct DomainMemory {
  DomainInfo info;
  std::vector<Region*> regions[kMemoryTypes];
  Region* emergency = nullptr;          ///< set aside; in none of the lists, and never given back
  bool emergency_promised = false;      ///< somebody has it, or is asking the backend for it
  UsageStatistics usage[kMemoryTypes];  ///< the figures that are counted, not those of the regions
  unsigned region_count = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t freed_bytes = 0;  ///< so far
  std::uint64_t moved_bytes = 0;  ///< allocated and freed so far

  [[nodiscard]] std::uint64_t used_bytes() const noexcept {
    return usage[0].current_bytes + usage[1].current_bytes;
  }
};

/// All regions of a device. Belongs to the holder of its mutex.
class Pool {
 public:
  struct Placed {
    Block* head = nullptr;     ///< the first chunk; live, with a serial number
    DomainId lacking = 0;      ///< without head: a domain that had no room
    bool no_metadata = false;  ///< without head: the host's memory was short
  };

  /// May throw std::bad_alloc.
  Pool(const DeviceOptions& options, std::vector<DomainInfo> domains);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// All chunks of a request, or none. `thorough` as in FitAlgorithm::find.
  Placed place(const PoolRequest& request, bool thorough) noexcept;
  /// All chunks of an allocation become free.
  void give_back(Block* head, bool was_in_flight = false) noexcept;

  /// The chunks are still used by streams until they are given back.
  void count_in_flight(const Block& head) noexcept;

  /// Requests so far that were placed.
  [[nodiscard]] std::uint64_t served() const noexcept { return serial_; }
  [[nodiscard]] std::uint64_t granule() const noexcept { return granule_; }
  [[nodiscard]] std::vector<DomainMemory>& domains() noexcept { return domains_; }
  [[nodiscard]] const std::vector<DomainMemory>& domains() const noexcept { return domains_; }
  [[nodiscard]] const BlockPool& blocks() const noexcept { return blocks_; }
  [[nodiscard]] const Region& region_of(const Block& block) const noexcept {
    return *regions_[block.region];
  }
  [[nodiscard]] DomainId domain_of(const Block& block) const noexcept {
    return region_of(block).place().domain;
  }

  /// Counts a region in advance, so that the backend can be asked for it without the mutex. False
  /// when it would exceed the limits.
  bool promise_region(DomainId domain, std::uint64_t bytes, const DeviceOptions& options) noexcept;
  void break_promise(DomainId domain, std::uint64_t bytes) noexcept;
  /// Adds a region that was promised. False when the host's memory is short.
  bool add_region(DomainId domain, MemoryType type, std::uint64_t bytes,
                  const RegionMemory& memory) noexcept;
  /// The same for what is set aside: true once, for the thread that is to acquire it.
  bool promise_emergency(DomainId domain) noexcept;
  bool add_emergency(DomainId domain, std::uint64_t bytes, const RegionMemory& memory) noexcept;
  void break_emergency_promise(DomainId domain) noexcept;
  /// Takes an empty region of the domain out of the books; null when there is none.
  std::unique_ptr<Region> remove_empty_region(DomainId domain) noexcept;

  /// The counted figures of a domain and type with those of its regions.
  [[nodiscard]] UsageStatistics usage(DomainId domain, MemoryType type) const noexcept;
  [[nodiscard]] bool consistent() const noexcept;

 private:
  Block* place_chunk(DomainMemory& domain, const PoolRequest& request, std::uint64_t bytes,
                     bool thorough) noexcept;
  Placed place_parts(const PoolRequest& request, bool thorough) noexcept;
  Region* make_region(DomainId domain, MemoryType type, std::uint64_t bytes,
                      const RegionMemory& memory) noexcept;
  static void count_allocation(DomainMemory& domain, MemoryType type, std::uint64_t bytes) noexcept;

  const FitStrategy fit_;
  const RegionStrategy strategy_;
  const std::uint64_t granule_;
  BlockPool blocks_;
  std::vector<std::unique_ptr<Region>> regions_;  ///< by number; null for one that was removed
  std::vector<DomainMemory> domains_;
  std::uint64_t serial_ = 0;
};

}  // namespace fallow::device::detail
