#include "heap/address_space.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>

#include "fallow/errors.h"
#include "platform/clock.h"
#include "platform/sanitizer.h"
#include "platform/virtual_memory.h"

namespace fallow::detail {

constinit BarrierRange g_barrier_range;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kGiB = std::size_t{1} << 30;
constexpr std::size_t kLargestRange = 1024 * kGiB;
constexpr std::size_t kSmallestRange = 64 * kMiB;
/// Sanitizers keep shadow memory and tables for what is reserved.
constexpr std::size_t kLargestRangeUnderSanitizer = 64 * kGiB;
/// Pages of the large area are committed in steps of this size, to save system calls.
constexpr std::size_t kCommitStep = 4 * kMiB;

std::atomic<bool> g_exists{false};

struct Range {
  std::uintptr_t base;
  std::size_t bytes;
};

Range reserve_largest_range() {
  const bool sanitized =
      platform::address_sanitizer_active() || platform::thread_sanitizer_active();
  // Under a limit of the address space half of it is left to the rest of the program.
  const std::size_t limit = platform::address_space_limit() / 2;
  std::size_t bytes = sanitized ? kLargestRangeUnderSanitizer : kLargestRange;
  for (; bytes >= kSmallestRange; bytes /= 4) {
    if (bytes > limit) continue;
    void* const start = platform::reserve(bytes, AddressSpace::kChunkBytes);
    if (start != nullptr) return {reinterpret_cast<std::uintptr_t>(start), bytes};
  }
  throw StartupError("fallow: the system refused to reserve even " +
                     std::to_string(kSmallestRange / kMiB) +
                     " MiB of address space; is there a limit on virtual memory (ulimit -v)?");
}

}  // namespace

AddressSpace& AddressSpace::instance() {
  // Never destroyed: objects in other translation units may outlive any order of destruction.
  static AddressSpace* const space = new AddressSpace;
  return *space;
}

bool AddressSpace::exists() noexcept { return g_exists.load(std::memory_order_acquire); }

AddressSpace::AddressSpace() : mutex_(platform::LockRank::kAddressSpace, "address space") {
  const auto [base, bytes] = reserve_largest_range();
  // In a small range too there is room for a nursery of the usual size.
  const std::size_t nursery_bytes = std::max(bytes / 16, std::min(bytes / 4, kSmallestRange));
  static_assert(kLargestRange / 16 == kMaxNurseryArea);
  large_base_ = base + nursery_bytes;
  large_span_ = bytes / 2 - nursery_bytes;
  chunk_base_ = base + bytes / 2;
  chunk_span_ = bytes / 2;
  nurseries_ = SpanAllocator(base, nursery_bytes, kRegionGranule);
  pages_ = SpanAllocator(large_base_, large_span_, platform::page_size());
  chunks_ = SpanAllocator(chunk_base_, chunk_span_, kChunkBytes);
  pages_committed_ = large_base_;
  chunks_committed_ = chunk_base_;
  g_barrier_range.base = base;
  g_barrier_range.nursery_span = nursery_bytes;
  g_barrier_range.record_span.store(young_or_large_span(), std::memory_order_relaxed);
  g_exists.store(true, std::memory_order_release);
}

std::uintptr_t AddressSpace::acquire_nursery(std::size_t bytes, HeapCore* owner) {
  const std::scoped_lock lock(mutex_);
  const std::uintptr_t start = nurseries_.allocate(bytes);
  if (start == 0) return 0;
  if (!platform::commit(reinterpret_cast<void*>(start), bytes)) {
    nurseries_.release(start);
    return 0;
  }
  for (std::uintptr_t at = start; at < start + bytes; at += kRegionGranule) {
    owners_[(at - g_barrier_range.base) / kRegionGranule].store(owner, std::memory_order_relaxed);
  }
  return start;
}

void AddressSpace::release_nursery(std::uintptr_t start, std::size_t bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  platform::unpoison(reinterpret_cast<void*>(start), bytes);
  platform::uncommit(reinterpret_cast<void*>(start), bytes);
  for (std::uintptr_t at = start; at < start + bytes; at += kRegionGranule) {
    owners_[(at - g_barrier_range.base) / kRegionGranule].store(nullptr, std::memory_order_relaxed);
  }
  nurseries_.release(start);
}

HeapCore* AddressSpace::nursery_owner(const void* address) const noexcept {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - g_barrier_range.base;
  return owners_[offset / kRegionGranule].load(std::memory_order_relaxed);
}

bool AddressSpace::commit_until(std::uintptr_t& committed, std::uintptr_t end,
                                std::uintptr_t area_end) {
  if (end <= committed) return true;
  const std::size_t step = (end - committed + kCommitStep - 1) / kCommitStep * kCommitStep;
  const std::size_t bytes = std::min<std::size_t>(step, area_end - committed);
  if (!platform::commit(reinterpret_cast<void*>(committed), bytes)) return false;
  committed += bytes;
  return true;
}

std::uintptr_t AddressSpace::acquire_chunk() {
  const std::scoped_lock lock(mutex_);
  const std::uintptr_t chunk = chunks_.allocate(kChunkBytes);
  if (chunk == 0) return 0;
  if (!commit_until(chunks_committed_, chunk + kChunkBytes, chunk_base_ + chunk_span_)) {
    chunks_.release(chunk);
    return 0;
  }
  return chunk;
}

void AddressSpace::release_chunk(std::uintptr_t chunk) noexcept {
  platform::unpoison(reinterpret_cast<void*>(chunk), kChunkBytes);
  platform::decommit(reinterpret_cast<void*>(chunk), kChunkBytes);
  const std::scoped_lock lock(mutex_);
  chunks_.release(chunk);
}

std::uintptr_t AddressSpace::acquire_pages(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const std::uintptr_t start = pages_.allocate(bytes);
  if (start == 0) return 0;
  const std::uintptr_t end = start + pages_.round_up(bytes);
  if (!commit_until(pages_committed_, end, large_base_ + large_span_)) {
    pages_.release(start);
    return 0;
  }
  return start;
}

void AddressSpace::release_pages(std::uintptr_t start) noexcept {
  const std::scoped_lock lock(mutex_);
  pages_.release(start, platform::monotonic_coarse_ns());
}

void AddressSpace::discard_pages(std::uintptr_t start, std::size_t bytes) noexcept {
  platform::decommit(reinterpret_cast<void*>(start), bytes);
  const std::scoped_lock lock(mutex_);
  pages_.release(start);
}

bool AddressSpace::reclaim_pages(std::uint64_t freed_by_ns, std::size_t at_most,
                                 std::size_t keep_bytes) noexcept {
  SpanAllocator::Taken taken;
  {
    const std::scoped_lock lock(mutex_);
    if (pages_.dirty_bytes() <= keep_bytes) return false;
    taken = pages_.take_dirty(freed_by_ns, at_most);
  }
  if (taken.start == 0) return false;
  discard_pages(taken.start, taken.bytes);
  return true;
}

std::size_t AddressSpace::dirty_page_bytes() noexcept {
  const std::scoped_lock lock(mutex_);
  return pages_.dirty_bytes();
}

void AddressSpace::marking_started() noexcept {
  const std::scoped_lock lock(mutex_);
  ++marking_heaps_;
  g_barrier_range.record_span.store(std::numeric_limits<std::uintptr_t>::max(),
                                    std::memory_order_relaxed);
}

void AddressSpace::marking_ended() noexcept {
  const std::scoped_lock lock(mutex_);
  if (--marking_heaps_ == 0) {
    g_barrier_range.record_span.store(young_or_large_span(), std::memory_order_relaxed);
  }
}

}  // namespace fallow::detail
