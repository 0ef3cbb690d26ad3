#include "heap/nursery.h"

#include <algorithm>
#include <bit>
#include <string>

#include "fallow/errors.h"
#include "heap/poison.h"
#include "platform/sanitizer.h"
#include "platform/virtual_memory.h"
#include "telemetry/size_parser.h"

namespace fallow::detail {

namespace {
constexpr std::size_t kSmallestChunk = std::size_t{4} << 10;
constexpr std::size_t kLargestChunk = std::size_t{256} << 10;
constexpr std::size_t kChunksWanted = 32;
}  // namespace

std::size_t Nursery::chunk_bytes_for(std::size_t nursery_bytes) noexcept {
  return std::clamp(std::bit_floor(nursery_bytes / kChunksWanted), kSmallestChunk, kLargestChunk);
}

Nursery::Nursery(AddressSpace& space, HeapCore* owner, const Settings& settings)
    : space_(space),
      mutex_(platform::LockRank::kNurseryPool, "nursery pool"),
      settings_(settings),
      chunk_bytes_(chunk_bytes_for(settings.bytes)),
      region_bytes_((settings.bytes + AddressSpace::kRegionGranule - 1) &
                    ~(AddressSpace::kRegionGranule - 1)),
      base_(space.acquire_nursery(region_bytes_ * settings.regions, owner)),
      free_(settings.bytes / chunk_bytes_, true),
      retained_(free_.size(), false),
      allotment_(whole_chunks(settings.allotment)) {
  if (base_ == 0) {
    throw StartupError("fallow: no room for a nursery of " +
                       telemetry::format_bytes(region_bytes_ * settings.regions) + ": of the " +
                       telemetry::format_bytes(space.nursery_span()) +
                       " of address space for nurseries not enough is free, or the system refused "
                       "the memory");
  }
  if (settings_.huge_pages) {
    platform::advise_huge_pages(reinterpret_cast<void*>(base_), region_bytes_ * settings.regions,
                                true);
  }
  for (std::size_t region = settings_.regions; region-- > 0;) {
    region_ = region;
    retire(0, free_.size());
    if (region != 0) {
      static_cast<void>(platform::set_accessible(reinterpret_cast<void*>(region_begin(region)),
                                                 region_bytes_, false));
    }
  }
}

Nursery::~Nursery() { space_.release_nursery(base_, region_bytes_ * settings_.regions); }

std::size_t Nursery::whole_chunks(std::size_t bytes) const noexcept {
  return std::max<std::size_t>(bytes / chunk_bytes_, 1);
}

Nursery::Range Nursery::take(std::uintptr_t preferred, std::size_t at_most) noexcept {
  std::size_t chunk = (preferred - region_begin(region_)) / chunk_bytes_;
  const bool aligned = preferred % chunk_bytes_ == 0;
  if (preferred < region_begin(region_) || !aligned || chunk >= free_.size() || !free_[chunk]) {
    while (first_free_ < free_.size() && !free_[first_free_]) ++first_free_;
    if (first_free_ == free_.size()) return {};
    chunk = first_free_;
  }
  std::size_t end = chunk;
  for (; end < free_.size() && free_[end] && end - chunk < at_most; ++end) free_[end] = false;
  taken_.store(taken_.load(std::memory_order_relaxed) + end - chunk, std::memory_order_relaxed);
  const std::uintptr_t begin = region_begin(region_) + chunk * chunk_bytes_;
  const std::size_t bytes = (end - chunk) * chunk_bytes_;
  platform::unpoison(reinterpret_cast<void*>(begin), bytes);
  return {begin, begin + bytes};
}

void Nursery::retain(const Range& piece) noexcept {
  const std::uintptr_t base = region_begin(region_);
  const std::size_t last = (piece.end - 1 - base) / chunk_bytes_;
  for (std::size_t chunk = (piece.begin - base) / chunk_bytes_; chunk <= last; ++chunk) {
    retained_[chunk] = true;
  }
  retains_any_ = true;
}

void Nursery::reset(std::size_t allotment_bytes) noexcept {
  std::size_t kept = 0;
  first_free_ = 0;
  for (std::size_t chunk = 0; chunk < free_.size(); ++chunk) {
    const bool keep = retained_[chunk];
    if (keep) {
      ++kept;
    } else if (!free_[chunk]) {
      retire(chunk, 1);
    }
    free_[chunk] = !keep;
  }
  taken_.store(kept, std::memory_order_relaxed);
  allotment_ = kept + whole_chunks(allotment_bytes);
  // Open cursors would have to move along.
  if (settings_.regions > 1 && !retains_any_) rotate();
  if (retains_any_) retained_.assign(retained_.size(), false);
  retains_any_ = false;
}

void Nursery::retire(std::size_t first_chunk, std::size_t chunks) const noexcept {
  if (!settings_.poison) return;
  const std::uintptr_t begin = region_begin(region_) + first_chunk * chunk_bytes_;
  const std::size_t bytes = chunks * chunk_bytes_;
  platform::unpoison(reinterpret_cast<void*>(begin), bytes);
  fill_with_poison(begin, bytes);
  platform::poison(reinterpret_cast<void*>(begin), bytes);
}

bool Nursery::rotate() noexcept {
  const std::size_t next = (region_ + 1) % settings_.regions;
  // Refusal (too many mappings) only costs the diagnostic: this region stays in use.
  if (!platform::set_accessible(reinterpret_cast<void*>(region_begin(next)), region_bytes_, true)) {
    return false;
  }
  static_cast<void>(platform::set_accessible(reinterpret_cast<void*>(region_begin(region_)),
                                             region_bytes_, false));
  region_ = next;
  return true;
}

}  // namespace fallow::detail
