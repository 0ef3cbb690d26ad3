#include "profile/malloc/block_table.h"

#include <sched.h>

#include "platform/spin.h"

namespace fallow::profile {

bool BlockTable::allocate() noexcept { return entries_.allocate(kMaxBlocks + 1); }

void BlockTable::lock(std::size_t shard) noexcept {
  constexpr int kSpins = 100;
  for (int spin = 0; locks_[shard].exchange(true, std::memory_order_acquire); ++spin) {
    if (spin < kSpins) {
      platform::spin_pause();
    } else {
      sched_yield();
    }
  }
}

void BlockTable::unlock(std::size_t shard) noexcept {
  locks_[shard].store(false, std::memory_order_release);
}

std::uint32_t BlockTable::take_entry() noexcept {
  lock(kShards);
  std::uint32_t entry = free_;
  if (entry != 0) {
    free_ = entries_[entry].next;
  } else if (fresh_ <= kMaxBlocks) {
    entry = fresh_++;
  }
  unlock(kShards);
  return entry;
}

void BlockTable::give_entry(std::uint32_t entry) noexcept {
  lock(kShards);
  entries_[entry].next = free_;
  free_ = entry;
  unlock(kShards);
}

bool BlockTable::add(const void* block, SampleId id) noexcept {
  if (!entries_.is_allocated()) return false;
  const std::uint32_t entry = take_entry();
  if (entry == 0) return false;
  const std::size_t bucket = bucket_of(block);
  lock(bucket % kShards);
  entries_[entry] = {block, id, heads_[bucket].load(std::memory_order_relaxed)};
  heads_[bucket].store(entry, std::memory_order_relaxed);
  unlock(bucket % kShards);
  return true;
}

SampleId BlockTable::remove_from(std::size_t bucket, const void* block) noexcept {
  SampleId id = 0;
  std::uint32_t found = 0;
  lock(bucket % kShards);
  std::uint32_t before = 0;
  for (std::uint32_t entry = heads_[bucket].load(std::memory_order_relaxed); entry != 0;
       before = entry, entry = entries_[entry].next) {
    if (entries_[entry].block != block) continue;
    const std::uint32_t next = entries_[entry].next;
    if (before == 0) {
      heads_[bucket].store(next, std::memory_order_relaxed);
    } else {
      entries_[before].next = next;
    }
    id = entries_[entry].id;
    found = entry;
    break;
  }
  unlock(bucket % kShards);
  if (found != 0) give_entry(found);
  return id;
}

void BlockTable::lock_all() noexcept {
  for (std::size_t shard = 0; shard <= kShards; ++shard) lock(shard);
}

void BlockTable::unlock_all() noexcept {
  for (std::size_t shard = 0; shard <= kShards; ++shard) unlock(shard);
}

void BlockTable::clear() noexcept {
  for (auto& head : heads_) head.store(0, std::memory_order_relaxed);
  fresh_ = 1;
  free_ = 0;
}

}  // namespace fallow::profile
