// Acquiring regions and giving them back. The backend is never called with the mutex held.
#include <algorithm>
#include <bit>
#include <functional>

#include "device/device_core.h"
#include "fallow/fault_injector.h"
#include "telemetry/size_parser.h"

namespace fallow::device::detail {

void DeviceCore::choose_region_sizes() {
  for (const DomainMemory& domain : pool.domains()) {
    const std::uint64_t capacity = domain.info.capacity_bytes;
    const std::uint64_t allowed =
        options.limit_bytes != 0 ? std::min(capacity, options.limit_bytes) : capacity;
    if (options.emergency_bytes != 0 && options.emergency_bytes >= allowed / 2) {
      throw OptionError("fallow: DeviceOptions: emergency_bytes must be less than half of domain " +
                        domain.info.name);
    }
    const std::uint64_t most = allowed - options.emergency_bytes;
    for (const bool program : {false, true}) {
      std::vector<std::uint64_t> sizes = program && !options.program_region_bytes.empty()
                                             ? options.program_region_bytes
                                             : options.region_bytes;
      if (sizes.empty()) sizes = {most, most / 2, most / 4, most / 8};
      for (std::uint64_t& size : sizes) size &= ~(pool.granule() - 1);
      std::erase_if(sizes, [most](std::uint64_t size) { return size == 0 || size > most; });
      if (sizes.empty()) {
        throw OptionError("fallow: DeviceOptions: no size of a region fits into domain " +
                          domain.info.name + ", which may have " + telemetry::format_bytes(most));
      }
      std::sort(sizes.begin(), sizes.end(), std::greater<>());
      largest_region_.push_back(sizes.front());
      region_sizes_.push_back(std::move(sizes));
    }
  }
}

std::uint64_t DeviceCore::largest_possible(const PoolRequest& request) const noexcept {
  std::uint64_t largest = UINT64_MAX;
  for (std::uint64_t set = request.domain_set; set != 0; set &= set - 1) {
    const auto domain = static_cast<std::size_t>(std::countr_zero(set));
    largest = std::min(
        largest, largest_region_[domain * kMemoryTypes + static_cast<std::size_t>(request.type)]);
  }
  return largest;
}

void DeviceCore::set_aside(DomainId domain) {
  {
    const Locked lock(*this);
    if (!pool.promise_emergency(domain)) return;
  }
  const std::uint64_t bytes = options.emergency_bytes & ~(pool.granule() - 1);
  RegionMemory memory;
  const bool given = backend->reserve(domain, MemoryType::kTensor, bytes, memory);
  bool added = false;
  {
    const Locked lock(*this);
    added = given && pool.add_emergency(domain, bytes, memory);
    if (!added) pool.break_emergency_promise(domain);
  }
  if (given && !added) backend->release(domain, memory, bytes);
}

bool DeviceCore::grow(DomainId domain, MemoryType type, std::uint64_t bytes) {
  if (options.emergency_bytes != 0) set_aside(domain);
  for (const std::uint64_t size :
       region_sizes_[domain * kMemoryTypes + static_cast<std::size_t>(type)]) {
    if (size < bytes) break;
    {
      const Locked lock(*this);
      if (!pool.promise_region(domain, size, options)) continue;
    }
    RegionMemory memory;
    const bool refused = (faults_ != nullptr && faults_->fails_reserve()) ||
                         !backend->reserve(domain, type, size, memory);
    bool added = false;
    {
      const Locked lock(*this);
      added = !refused && pool.add_region(domain, type, size, memory);
      if (!added) pool.break_promise(domain, size);
      if (added) ++pressure[domain].statistics.grown;
    }
    if (added) return true;
    if (!refused) backend->release(domain, memory, size);
  }
  return false;
}

void DeviceCore::give_to_backend(const Region& region) noexcept {
  const Region::Place& place = region.place();
  backend->release(place.domain, place.memory, place.bytes);
}

std::uint64_t DeviceCore::release_empty(DomainId domain) {
  std::uint64_t bytes = 0;
  for (;;) {
    std::unique_ptr<Region> region;
    {
      const Locked lock(*this);
      region = pool.remove_empty_region(domain);
      if (region != nullptr) ++pressure[domain].statistics.regions_released;
    }
    if (region == nullptr) return bytes;
    bytes += region->place().bytes;
    give_to_backend(*region);
  }
}

std::uint64_t DeviceCore::trim() {
  if (forked()) return 0;
  const BlockingScope detached;
  poll_streams();
  std::uint64_t bytes = 0;
  for (DomainId domain = 0; domain < pressure.size(); ++domain) bytes += release_empty(domain);
  return bytes;
}

}  // namespace fallow::device::detail
