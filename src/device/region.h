#pragma once

#include <cstdint>
#include <memory>

#include "device/block_pool.h"
#include "device/fit_algorithm.h"
#include "fallow/device_backend.h"

namespace fallow::device::detail {

/// A range of device memory, divided into blocks without gaps; no two neighbours are free. Belongs
/// to the holder of the device's mutex.
class Region {
 public:
  struct Place {
    DomainId domain = 0;
    MemoryType type = MemoryType::kTensor;
    std::uint32_t number = 0;  ///< never used twice by a device while blocks refer to it
    std::uint64_t bytes = 0;
    RegionMemory memory{};
  };

  /// `whole` becomes the one free block.
  Region(const Place& place, std::unique_ptr<FitAlgorithm> fit, Block* whole) noexcept;

  [[nodiscard]] const Place& place() const noexcept { return place_; }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_; }
  [[nodiscard]] std::uint64_t free_bytes() const noexcept { return place_.bytes - used_; }
  [[nodiscard]] std::uint64_t largest_free() const noexcept { return fit_->largest(); }
  [[nodiscard]] bool empty() const noexcept { return used_ == 0; }
  [[nodiscard]] Block* first() const noexcept { return first_; }

  /// A free block that could serve `bytes` at `alignment`, or null.
  [[nodiscard]] Block* find(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t granule,
                            bool thorough) const noexcept {
    if (alignment <= granule) return fit_->find(bytes, thorough);
    Block* const block = fit_->find(bytes + alignment - granule, thorough);
    // The start of a region has every alignment.
    return block == nullptr && empty() && bytes <= place_.bytes ? first_ : block;
  }
  /// Cuts `bytes` out of what find() has given. Takes at most two blocks from the pool.
  Block* take(Block* block, std::uint64_t bytes, std::uint64_t alignment, BlockPool& pool) noexcept;
  /// Makes a block free, and one with its free neighbours.
  void give_back(Block* block, BlockPool& pool) noexcept;

  /// Whether all of the above holds.
  [[nodiscard]] bool consistent() const noexcept;

 private:
  Block* split(Block* block, std::uint64_t bytes, BlockPool& pool) noexcept;
  static void join_with_next(Block* block, BlockPool& pool) noexcept;

  const Place place_;
  const std::unique_ptr<FitAlgorithm> fit_;
  Block* first_;
  std::uint64_t used_ = 0;
};

}  // namespace fallow::device::detail
