#include "fallow/device_statistics.h"

#include "device/device_core.h"

namespace fallow::device::detail {

UsageStatistics DeviceCore::usage_of(DomainId domain, MemoryType type) const noexcept {
  return pool.usage(domain, type);
}

DeviceStatistics DeviceCore::statistics() {
  DeviceStatistics statistics;
  statistics.domains.resize(pressure.size());
  const Locked lock(*this);
  for (DomainId domain = 0; domain < pressure.size(); ++domain) {
    DomainStatistics& each = statistics.domains[domain];
    each.name = pool.domains()[domain].info.name;
    each.capacity_bytes = pool.domains()[domain].info.capacity_bytes;
    for (const MemoryType type : {MemoryType::kTensor, MemoryType::kProgram}) {
      each.usage[static_cast<std::size_t>(type)] = usage_of(domain, type);
    }
    each.pressure = pressure[domain].statistics;
  }
  statistics.allocations = pool.served();
  statistics.frees = frees_;
  statistics.deferred_frees = deferred_frees_.load(std::memory_order_relaxed);
  return statistics;
}

void DeviceCore::reset_peaks() {
  const Locked lock(*this);
  for (DomainMemory& domain : pool.domains()) {
    for (UsageStatistics& usage : domain.usage) {
      usage.peak_bytes = usage.current_bytes;
      usage.peak_blocks = usage.current_blocks;
    }
  }
}

}  // namespace fallow::device::detail
