#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fallow/sample.h"
#include "profile/record/lazy_memory.h"

namespace fallow::profile {

/// The sampled blocks that are in use, by address. Asking for one that is not there, which every
/// free does, is a multiplication and a load.
///
/// Thread-safe. Chains of entries below an array of heads; a spin lock for each of kShards parts,
/// held for some instructions. Bounded: kMaxBlocks.
class BlockTable {
 public:
  static constexpr std::uint32_t kMaxBlocks = 1U << 19;

  [[nodiscard]] bool allocate() noexcept;

  /// False when the table is full.
  bool add(const void* block, SampleId id) noexcept;
  /// The id of the block, which is no longer there then; 0 for a block that was not.
  SampleId remove(const void* block) noexcept {
    const std::size_t bucket = bucket_of(block);
    if (heads_[bucket].load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    return remove_from(bucket, block);
  }

  /// Around a fork. In the child everything is forgotten.
  void lock_all() noexcept;
  void unlock_all() noexcept;
  void clear() noexcept;

 private:
  static constexpr unsigned kBucketBits = 16;
  static constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;
  static constexpr std::size_t kShards = 64;
  struct Entry {
    const void* block;
    SampleId id;
    std::uint32_t next;
  };

  static std::size_t bucket_of(const void* block) noexcept {
    constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // Fibonacci hashing
    return (reinterpret_cast<std::uintptr_t>(block) * kMultiplier) >> (64 - kBucketBits);
  }
  SampleId remove_from(std::size_t bucket, const void* block) noexcept;
  std::uint32_t take_entry() noexcept;
  void give_entry(std::uint32_t entry) noexcept;
  void lock(std::size_t shard) noexcept;
  void unlock(std::size_t shard) noexcept;

  std::array<std::atomic<std::uint32_t>, kBuckets> heads_{};
  std::array<std::atomic<bool>, kShards + 1> locks_{};  // the last one is of the free entries
  LazyMemory<Entry> entries_;                           // 0 is none
  std::uint32_t fresh_ = 1;
  std::uint32_t free_ = 0;
};

}  // namespace fallow::profile
