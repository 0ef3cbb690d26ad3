// How the old space hands memory back to the system.
#include <algorithm>
#include <bit>

#include "heap/old_space.h"
#include "platform/virtual_memory.h"

namespace fallow::detail {

namespace {

/// The lowest `count` members of a set.
BlockSet lowest(BlockSet set, std::size_t count) noexcept {
  BlockSet rest = set;
  for (; count != 0 && rest != 0; --count) rest &= rest - 1;
  return set & ~rest;
}

std::size_t size_of(BlockSet set) noexcept { return static_cast<std::size_t>(std::popcount(set)); }

}  // namespace

void OldSpace::IdleBlocks::hand_back() const noexcept {
  // Neighbours together. There are never 64 of them: the first blocks are metadata.
  for (BlockSet rest = blocks; rest != 0;) {
    const int first = std::countr_zero(rest);
    const int count = std::countr_one(rest >> first);
    rest &= ~(((BlockSet{1} << count) - 1) << first);
    platform::decommit(reinterpret_cast<void*>(block_start(&chunk->blocks[first])),
                       static_cast<std::size_t>(count) * kBlockBytes);
  }
}

bool OldSpace::has_idle(std::size_t keep_bytes) const noexcept {
  return resident_blocks_ > full_blocks_for(keep_bytes) && free_blocks() > blocks_for(keep_bytes);
}

OldSpace::IdleBlocks OldSpace::take_idle(std::uint64_t freed_by_ns, std::size_t at_most,
                                         std::size_t keep_bytes) noexcept {
  if (!has_idle(keep_bytes)) return {};
  Chunk* const chunk = with_resident_.last();
  if (chunk->freed_at_ns > freed_by_ns) return {};
  const std::size_t spare = std::min(resident_blocks_ - full_blocks_for(keep_bytes),
                                     free_blocks() - blocks_for(keep_bytes));
  const BlockSet blocks = lowest(chunk->resident, std::min(at_most, spare));
  chunk->resident &= ~blocks;
  if (chunk->resident == 0) with_resident_.remove(chunk);
  resident_blocks_ -= size_of(blocks);
  return {chunk, blocks};
}

void OldSpace::return_clean(const IdleBlocks& idle) noexcept {
  Chunk* const chunk = idle.chunk;
  if (chunk->clean != 0) with_clean_.remove(chunk);
  chunk->clean |= idle.blocks;
  clean_blocks_ += size_of(idle.blocks);
  if (chunk->clean == kUsableBlockSet) {
    with_clean_.push_back(chunk);
  } else {
    with_clean_.push_front(chunk);
  }
}

Chunk* OldSpace::take_clean_chunk(std::size_t keep_bytes) noexcept {
  if (with_clean_.empty() || free_blocks() < blocks_for(keep_bytes) + kUsableBlocks) return nullptr;
  Chunk* const chunk = with_clean_.last();
  if (chunk->clean != kUsableBlockSet) return nullptr;
  if (sweep_chunk_ == chunk) {
    sweep_chunk_ = chunks_.next(chunk);
    sweep_block_ = kFirstBlock;
  }
  with_clean_.remove(chunk);
  chunks_.remove(chunk);
  clean_blocks_ -= kUsableBlocks;
  chunk_count_.fetch_sub(1, std::memory_order_relaxed);
  return chunk;
}

}  // namespace fallow::detail
