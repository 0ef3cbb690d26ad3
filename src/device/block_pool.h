#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "device/block.h"

namespace fallow::device::detail {

/// Blocks by number. Chunk k of the table has 1024 << k of them, so that a block never moves and is
/// found by a count of leading zeros. find() may be called by any thread; the rest belongs to the
/// holder of the device's mutex.
class BlockPool {
 public:
  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Makes sure that take() works `count` times. False without memory.
  bool reserve(std::size_t count) noexcept {
    while (unused_ < count) {
      if (!add_chunk()) return false;
    }
    return true;
  }
  /// Only after reserve().
  Block* take() noexcept {
    Block* const block = first_unused_;
    first_unused_ = block->next;
    --unused_;
    return block;
  }
  void put_back(Block* block) noexcept {
    block->set(0, BlockState::kUnused);
    block->next = first_unused_;
    first_unused_ = block;
    ++unused_;
  }

  /// Null for a number that no block has.
  [[nodiscard]] Block* find(std::uint32_t slot) const noexcept {
    const std::uint64_t place = std::uint64_t{slot} + kFirstChunk;
    const auto chunk = static_cast<unsigned>(std::bit_width(place)) - 1 - kFirstBits;
    Block* const start = chunks_[chunk].load(std::memory_order_acquire);
    return start == nullptr ? nullptr : start + (place - (kFirstChunk << chunk));
  }

 private:
  static constexpr unsigned kFirstBits = 10;
  static constexpr std::uint64_t kFirstChunk = std::uint64_t{1} << kFirstBits;
  static constexpr std::size_t kChunks = 33 - kFirstBits;

  bool add_chunk() noexcept;

  std::array<std::atomic<Block*>, kChunks> chunks_{};
  std::size_t chunk_count_ = 0;
  Block* first_unused_ = nullptr;
  std::size_t unused_ = 0;
};

}  // namespace fallow::device::detail
