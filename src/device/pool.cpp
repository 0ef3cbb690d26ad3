#include "device/pool.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace fallow::device::detail {

Pool::Pool(const DeviceOptions& options, std::vector<DomainInfo> domains)
    : fit_(options.fit), strategy_(options.regions), granule_(options.alignment) {
  // One more for what is set aside.
  regions_.reserve(domains.size() * (options.max_regions + 1));
  domains_.resize(domains.size());
  for (std::size_t i = 0; i < domains.size(); ++i) {
    domains_[i].info = std::move(domains[i]);
    // So that adding and removing regions needs no memory.
    for (auto& list : domains_[i].regions) list.reserve(options.max_regions);
  }
}

Pool::~Pool() = default;

Block* Pool::place_chunk(DomainMemory& domain, const PoolRequest& request, std::uint64_t bytes,
                         bool thorough) noexcept {
  Region* best = nullptr;
  Block* block = nullptr;
  for (Region* const region : domain.regions[static_cast<std::size_t>(request.type)]) {
    if (best != nullptr) {
      const bool fuller = region->used_bytes() > best->used_bytes();
      if (fuller != (strategy_ == RegionStrategy::kFillFirst)) continue;
    }
    if (Block* const found = region->find(bytes, request.alignment, granule_, thorough)) {
      best = region;
      block = found;
    }
  }
  if (best == nullptr && request.emergency && domain.emergency != nullptr) {
    block = domain.emergency->find(bytes, request.alignment, granule_, thorough);
    if (block != nullptr) best = domain.emergency;
  }
  if (best == nullptr) return nullptr;
  return best->take(block, bytes, request.alignment, blocks_);
}

void Pool::count_allocation(DomainMemory& domain, MemoryType type, std::uint64_t bytes) noexcept {
  UsageStatistics& usage = domain.usage[static_cast<std::size_t>(type)];
  usage.current_bytes += bytes;
  usage.total_bytes += bytes;
  usage.peak_bytes = std::max(usage.peak_bytes, usage.current_bytes);
  ++usage.current_blocks;
  ++usage.total_blocks;
  usage.peak_blocks = std::max(usage.peak_blocks, usage.current_blocks);
  domain.moved_bytes += bytes;
}

Pool::Placed Pool::place(const PoolRequest& request, bool thorough) noexcept {
  const auto first = static_cast<DomainId>(std::countr_zero(request.domain_set));
  // Two for each chunk: before and behind it.
  if (!blocks_.reserve(2 * std::size_t{request.domains})) return {nullptr, first, true};
  Placed placed;
  if (request.domains == 1) {
    placed = {place_chunk(domains_[first], request, request.bytes, thorough), first, false};
    if (placed.head == nullptr) return placed;
    placed.head->next = nullptr;
    count_allocation(domains_[first], request.type, request.bytes);
  } else {
    placed = place_parts(request, thorough);
    if (placed.head == nullptr) return placed;
  }
  placed.head->requested = request.requested;
  placed.head->set(++serial_, BlockState::kLive);
  return placed;
}

Pool::Placed Pool::place_parts(const PoolRequest& request, bool thorough) noexcept {
  const std::uint64_t part = request.chunk_bytes();
  Placed placed;
  Block** link = &placed.head;
  std::uint64_t rest = request.bytes;
  for (std::uint64_t set = request.domain_set; set != 0 && rest != 0; set &= set - 1) {
    const auto domain = static_cast<DomainId>(std::countr_zero(set));
    const std::uint64_t bytes = std::min(part, rest);
    Block* const block = place_chunk(domains_[domain], request, bytes, thorough);
    if (block == nullptr) {
      *link = nullptr;
      for (Block* taken = placed.head; taken != nullptr;) {
        Block* const next = taken->next;
        regions_[taken->region]->give_back(taken, blocks_);
        taken = next;
      }
      return {nullptr, domain, false};
    }
    *link = block;
    link = &block->next;
    rest -= bytes;
  }
  *link = nullptr;
  for (const Block* block = placed.head; block != nullptr; block = block->next) {
    count_allocation(domains_[domain_of(*block)], request.type, block->bytes);
  }
  return placed;
}

void Pool::count_in_flight(const Block& head) noexcept {
  for (const Block* block = &head; block != nullptr; block = block->next) {
    const Region::Place& place = region_of(*block).place();
    domains_[place.domain].usage[static_cast<std::size_t>(place.type)].in_flight_bytes +=
        block->bytes;
  }
}

void Pool::give_back(Block* head, bool was_in_flight) noexcept {
  for (Block* block = head; block != nullptr;) {
    Block* const next = block->next;
    Region& region = *regions_[block->region];
    const Region::Place& place = region.place();
    DomainMemory& domain = domains_[place.domain];
    UsageStatistics& usage = domain.usage[static_cast<std::size_t>(place.type)];
    usage.current_bytes -= block->bytes;
    --usage.current_blocks;
    if (was_in_flight) usage.in_flight_bytes -= block->bytes;
    domain.freed_bytes += block->bytes;
    domain.moved_bytes += block->bytes;
    region.give_back(block, blocks_);
    block = next;
  }
}

bool Pool::promise_region(DomainId domain, std::uint64_t bytes,
                          const DeviceOptions& options) noexcept {
  DomainMemory& memory = domains_[domain];
  const std::uint64_t limit =
      (options.limit_bytes != 0 ? options.limit_bytes : memory.info.capacity_bytes) -
      options.emergency_bytes;
  if (memory.region_count == options.max_regions || bytes > limit ||
      memory.reserved_bytes > limit - bytes) {
    return false;
  }
  ++memory.region_count;
  memory.reserved_bytes += bytes;
  return true;
}

void Pool::break_promise(DomainId domain, std::uint64_t bytes) noexcept {
  --domains_[domain].region_count;
  domains_[domain].reserved_bytes -= bytes;
}

bool Pool::promise_emergency(DomainId domain) noexcept {
  return !std::exchange(domains_[domain].emergency_promised, true);
}

void Pool::break_emergency_promise(DomainId domain) noexcept {
  domains_[domain].emergency_promised = false;
}

bool Pool::add_emergency(DomainId domain, std::uint64_t bytes,
                         const RegionMemory& memory) noexcept {
  domains_[domain].emergency = make_region(domain, MemoryType::kTensor, bytes, memory);
  return domains_[domain].emergency != nullptr;
}

bool Pool::add_region(DomainId domain, MemoryType type, std::uint64_t bytes,
                      const RegionMemory& memory) noexcept {
  Region* const region = make_region(domain, type, bytes, memory);
  if (region == nullptr) return false;
  domains_[domain].regions[static_cast<std::size_t>(type)].push_back(region);
  return true;
}

Region* Pool::make_region(DomainId domain, MemoryType type, std::uint64_t bytes,
                          const RegionMemory& memory) noexcept try {
  auto fit = make_fit(fit_, static_cast<unsigned>(std::countr_zero(granule_)));
  if (!blocks_.reserve(1)) return nullptr;
  auto slot = std::find(regions_.begin(), regions_.end(), nullptr);
  if (slot == regions_.end()) slot = regions_.emplace(regions_.end());
  const auto number = static_cast<std::uint32_t>(slot - regions_.begin());
  Block* const whole = blocks_.take();
  *slot = std::make_unique<Region>(Region::Place{domain, type, number, bytes, memory},
                                   std::move(fit), whole);
  return slot->get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

std::unique_ptr<Region> Pool::remove_empty_region(DomainId domain) noexcept {
  DomainMemory& memory = domains_[domain];
  for (auto& list : memory.regions) {
    const auto found =
        std::find_if(list.begin(), list.end(), [](const Region* each) { return each->empty(); });
    if (found == list.end()) continue;
    Region& region = **found;
    list.erase(found);
    --memory.region_count;
    memory.reserved_bytes -= region.place().bytes;
    blocks_.put_back(region.first());
    return std::move(regions_[region.place().number]);
  }
  return nullptr;
}

UsageStatistics Pool::usage(DomainId domain, MemoryType type) const noexcept {
  const DomainMemory& memory = domains_[domain];
  UsageStatistics usage = memory.usage[static_cast<std::size_t>(type)];
  for (const Region* const region : memory.regions[static_cast<std::size_t>(type)]) {
    ++usage.regions;
    usage.reserved_bytes += region->place().bytes;
    usage.free_bytes += region->free_bytes();
    usage.largest_free = std::max(usage.largest_free, region->largest_free());
  }
  if (type == MemoryType::kTensor && memory.emergency != nullptr) {
    usage.emergency_bytes = memory.emergency->place().bytes;
    usage.emergency_free_bytes = memory.emergency->free_bytes();
  }
  return usage;
}

bool Pool::consistent() const noexcept {
  for (std::size_t domain = 0; domain < domains_.size(); ++domain) {
    for (std::size_t type = 0; type < kMemoryTypes; ++type) {
      std::uint64_t used = 0;
      const Region* const emergency = domains_[domain].emergency;
      if (emergency != nullptr && type == static_cast<std::size_t>(MemoryType::kTensor)) {
        if (!emergency->consistent()) return false;
        used = emergency->used_bytes();
      }
      for (const Region* const region : domains_[domain].regions[type]) {
        if (!region->consistent()) return false;
        used += region->used_bytes();
      }
      if (used != domains_[domain].usage[type].current_bytes) return false;
    }
  }
  return true;
}

}  // namespace fallow::device::detail
