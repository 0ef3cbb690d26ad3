#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heap/address_space.h"
#include "platform/ranked_mutex.h"

namespace fallow::detail {

/// The young space of one heap: a contiguous region cut into chunks that mutators take one or
/// a few at a time and bump through. With rotation several regions take turns and the idle ones are
/// inaccessible, so that a stale reference faults.
class Nursery {
 public:
  struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  struct Settings {
    std::size_t bytes;
    std::size_t allotment;  ///< bytes to be taken before the first collection
    std::size_t regions;    ///< at least 1
    bool poison;
    bool huge_pages;
  };

  /// Throws StartupError when the system refuses.
  Nursery(AddressSpace& space, HeapCore* owner, const Settings& settings);
  ~Nursery();
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;

  /// The chunk size for a nursery of so many bytes.
  static std::size_t chunk_bytes_for(std::size_t nursery_bytes) noexcept;
  [[nodiscard]] std::size_t chunk_bytes() const noexcept { return chunk_bytes_; }
  [[nodiscard]] std::size_t chunk_count() const noexcept { return free_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return free_.size() * chunk_bytes_; }

  /// For callers of take(), and to add conditions of their own to it.
  [[nodiscard]] platform::RankedMutex& mutex() noexcept { return mutex_; }
  /// Up to `at_most` free chunks in a row: those that begin at `preferred` if possible. Empty when
  /// none is free. The caller holds mutex().
  Range take(std::uintptr_t preferred, std::size_t at_most) noexcept;
  /// Chunks that are still to be taken before the next collection; binds those who ask. The caller
  /// holds mutex().
  [[nodiscard]] std::size_t allotment_left() const noexcept {
    const std::size_t taken = taken_.load(std::memory_order_relaxed);
    return taken < allotment_ ? allotment_ - taken : 0;
  }
  /// What may be taken between two collections. Changes only while all mutators are stopped.
  [[nodiscard]] std::size_t allotment_bytes() const noexcept { return allotment_ * chunk_bytes_; }
  /// Bytes of the chunks in use. Up to date under mutex(), and while all mutators are stopped.
  [[nodiscard]] std::size_t taken_bytes() const noexcept {
    return taken_.load(std::memory_order_relaxed) * chunk_bytes_;
  }

  /// End of a minor collection: retain() for each piece of an open cursor, then reset() frees all
  /// chunks but those that such pieces touch. All mutators are stopped.
  void retain(const Range& piece) noexcept;
  /// From now on about `allotment_bytes` are to be taken before the next collection.
  void reset(std::size_t allotment_bytes) noexcept;

 private:
  [[nodiscard]] std::uintptr_t region_begin(std::size_t region) const noexcept {
    return base_ + region * region_bytes_;
  }
  [[nodiscard]] std::size_t whole_chunks(std::size_t bytes) const noexcept;
  void retire(std::size_t first_chunk, std::size_t chunks) const noexcept;
  bool rotate() noexcept;

  AddressSpace& space_;
  platform::RankedMutex mutex_;
  const Settings settings_;
  const std::size_t chunk_bytes_;
  std::size_t region_bytes_;
  std::uintptr_t base_;
  std::size_t region_ = 0;
  std::vector<bool> free_;
  std::vector<bool> retained_;
  bool retains_any_ = false;
  std::size_t first_free_ = 0;  ///< no chunk below is free
  std::atomic<std::size_t> taken_{0};
  std::size_t allotment_;  ///< chunks
};

}  // namespace fallow::detail
