#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fallow/detail/barrier.h"
#include "heap/span_allocator.h"
#include "platform/ranked_mutex.h"

namespace fallow::detail {

class HeapCore;

/// The one address range of the process in which all heaps live:
///
///     | nurseries | large objects | chunks of the old space |
///
/// One reservation keeps the number of kernel mappings small and makes "is young" and "is large"
/// comparisons with constants. Thread-safe. Lives until the end of the process.
class AddressSpace {
 public:
  static constexpr std::size_t kRegionGranule = std::size_t{1} << 20;  ///< of nursery regions
  static constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
  static constexpr std::size_t kMaxNurseryArea = std::size_t{64} << 30;

  /// Reserves on the first call. Throws StartupError when even the smallest range is refused.
  static AddressSpace& instance();
  /// Whether instance() has been called successfully.
  static bool exists() noexcept;

  /// A committed range for a nursery; 0 when refused.
  std::uintptr_t acquire_nursery(std::size_t bytes, HeapCore* owner);
  [[nodiscard]] std::size_t nursery_span() const noexcept { return g_barrier_range.nursery_span; }
  void release_nursery(std::uintptr_t start, std::size_t bytes) noexcept;
  [[nodiscard]] HeapCore* nursery_owner(const void* address) const noexcept;

  /// A committed chunk whose bytes are zero; 0 when refused.
  std::uintptr_t acquire_chunk();
  void release_chunk(std::uintptr_t chunk) noexcept;

  /// Committed pages with unspecified contents; 0 when refused.
  std::uintptr_t acquire_pages(std::size_t bytes);
  /// They keep the memory of the system until reclaim_pages() takes it.
  void release_pages(std::uintptr_t start) noexcept;
  /// They do not.
  void discard_pages(std::uintptr_t start, std::size_t bytes) noexcept;
  /// Hands memory of pages that were free at `freed_by_ns` (monotonic clock) already back to the
  /// system, about `at_most` bytes; false when there is none, or when no more than
  /// `keep_bytes` of free pages hold memory. Other threads may take and release pages meanwhile.
  bool reclaim_pages(std::uint64_t freed_by_ns, std::size_t at_most,
                     std::size_t keep_bytes) noexcept;
  /// Bytes of free pages that may hold memory of the system.
  [[nodiscard]] std::size_t dirty_page_bytes() noexcept;
  [[nodiscard]] std::size_t page_bytes() const noexcept { return pages_.granule(); }

  [[nodiscard]] bool is_large(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - large_base_ < large_span_;
  }
  [[nodiscard]] bool is_chunk(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - chunk_base_ < chunk_span_;
  }
  /// Nurseries and large objects together: what the barrier looks at when nobody marks.
  [[nodiscard]] std::uintptr_t young_or_large_span() const noexcept {
    return large_base_ + large_span_ - g_barrier_range.base;
  }

  /// A heap begins or ends marking: the barrier's filter opens while any does.
  void marking_started() noexcept;
  void marking_ended() noexcept;

  /// For fork handlers.
  platform::RankedMutex& mutex() noexcept { return mutex_; }

 private:
  AddressSpace();
  /// Extends the committed part of an area to at least `end`; false when refused.
  bool commit_until(std::uintptr_t& committed, std::uintptr_t end, std::uintptr_t area_end);

  platform::RankedMutex mutex_;
  SpanAllocator nurseries_;
  SpanAllocator pages_;
  SpanAllocator chunks_;
  std::uintptr_t large_base_ = 0;
  std::size_t large_span_ = 0;
  std::uintptr_t chunk_base_ = 0;
  std::size_t chunk_span_ = 0;
  std::uintptr_t pages_committed_ = 0;
  std::uintptr_t chunks_committed_ = 0;
  std::size_t marking_heaps_ = 0;
  std::array<std::atomic<HeapCore*>, kMaxNurseryArea / kRegionGranule> owners_{};
};

}  // namespace fallow::detail
