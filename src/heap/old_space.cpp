#include "heap/old_space.h"

#include <algorithm>
#include <new>

#include "heap/poison.h"
#include "platform/fatal.h"
#include "platform/sanitizer.h"
#include "platform/virtual_memory.h"

namespace fallow::detail {

namespace {

/// A swept block with fewer free cells than this part of all is not worth a visit until it is swept
/// again.
constexpr std::size_t kWorthwhileFraction = 32;

/// Blocks that one allocation sweeps in the hope for free cells.
constexpr std::size_t kSweepsPerAllocation = 16;

/// Kills the cells that do not have the live colour and counts the others. Bytes between the starts
/// of objects are zero, so the whole stretch is treated alike, without knowing the cell size.
std::size_t kill_other_colors(std::uint8_t* marks, MarkColor live) noexcept {
  std::size_t survivors = 0;
  for (std::size_t part = 0; part < kMarkBytesPerBlock; part += 128) {
    std::uint8_t count = 0;
    for (std::size_t i = part; i < part + 128; ++i) {
      const bool is_live = marks[i] == live;
      marks[i] = is_live ? static_cast<std::uint8_t>(live) : std::uint8_t{kFreeCell};
      count = static_cast<std::uint8_t>(count + is_live);
    }
    survivors += count;
  }
  return survivors;
}

/// Blocks that objects of so many bytes fill. Rounding up to a cell wastes at most 1/8, the tail of
/// a block at most one cell of 8 KiB.
constexpr std::size_t full_blocks_for(std::size_t bytes) noexcept {
  return (bytes + bytes / 4 + kBlockBytes - 1) / kBlockBytes;
}

/// The same, if every size class opens a block.
constexpr std::size_t blocks_for(std::size_t bytes) noexcept {
  return bytes == 0 ? 0 : full_blocks_for(bytes) + kSizeClassCount;
}

}  // namespace

OldSpace::OldSpace(HeapCore* heap, AddressSpace& space, const Settings& settings)
    : heap_(heap), space_(space), settings_(settings) {}

OldSpace::~OldSpace() {
  while (chunks_ != nullptr) {
    Chunk* const chunk = chunks_;
    chunks_ = chunk->next;
    space_.release_chunk(reinterpret_cast<std::uintptr_t>(chunk));
  }
}

std::size_t OldSpace::growth_for(std::size_t bytes) const noexcept {
  const std::size_t blocks = blocks_for(bytes);
  if (blocks <= free_blocks_) return 0;
  return (blocks - free_blocks_ + kUsableBlocks - 1) / kUsableBlocks * kChunkBytes;
}

bool OldSpace::reserve_for(std::size_t bytes) {
  for (std::size_t growth = growth_for(bytes); growth != 0; growth -= kChunkBytes) {
    if (!add_chunk()) return false;
  }
  return true;
}

bool OldSpace::add_chunk() {
  const std::uintptr_t memory = space_.acquire_chunk();
  if (memory == 0) return false;
  platform::advise_huge_pages(reinterpret_cast<void*>(memory), kChunkBytes,
                              settings_.huge_pages && chunks_ != nullptr);
  auto* const chunk = ::new (reinterpret_cast<void*>(memory)) Chunk{};
  chunk->heap = heap_;
  chunk->next = chunks_;
  chunks_ = chunk;
  chunk_count_.fetch_add(1, std::memory_order_relaxed);
  // Pushed backwards, so that blocks are used in address order.
  for (std::size_t i = kBlocksPerChunk; i-- > kFirstBlock;) {
    Block* const block = &chunk->blocks[i];
    block->is_free = true;
    block->next = free_list_;
    free_list_ = block;
  }
  free_blocks_ += kUsableBlocks;
  return true;
}

void OldSpace::next_run(std::uint8_t size_class) {
  Cursor& cursor = cursors_[size_class];
  Block*& block = current_[size_class];
  std::uintptr_t from = cursor.end;
  while (block == nullptr || !find_run(cursor, block, from)) {
    block = next_partial_block(size_class);
    if (block == nullptr) {
      block = take_free_block(size_class);
      open_run(cursor, block, block_start(block), cells_end(block));
      return;
    }
    from = block_start(block);
  }
}

bool OldSpace::find_run(Cursor& cursor, const Block* block, std::uintptr_t from) {
  const std::size_t cell_bytes = block->cell_bytes;
  const std::uintptr_t end = cells_end(block);
  std::uintptr_t start = from;
  while (start < end && *mark_byte(reinterpret_cast<void*>(start)) != kFreeCell) {
    start += cell_bytes;
  }
  std::uintptr_t stop = start;
  while (stop < end && *mark_byte(reinterpret_cast<void*>(stop)) == kFreeCell) stop += cell_bytes;
  if (start == stop) return false;
  open_run(cursor, block, start, stop);
  return true;
}

void OldSpace::open_run(Cursor& cursor, const Block* block, std::uintptr_t start,
                        std::uintptr_t stop) noexcept {
  const auto chunk = reinterpret_cast<std::uintptr_t>(Chunk::of(block));
  cursor = {start, stop, chunk - chunk / kMarkGranule, block->cell_bytes};
  platform::unpoison(reinterpret_cast<void*>(start), stop - start);
}

Block* OldSpace::next_partial_block(std::uint8_t size_class) {
  Block*& partial = partial_[size_class];
  // Blocks that are full or of other classes could follow each other without end; a free block will
  // do as well.
  if (partial == nullptr) sweep_some(kSweepsPerAllocation);
  if (partial == nullptr) return nullptr;
  Block* const block = partial;
  partial = block->next;
  return block;
}

Block* OldSpace::take_free_block(std::uint8_t size_class) {
  if (free_list_ == nullptr && !add_chunk()) {
    platform::fatal("the old space has no block although blocks were reserved");
  }
  Block* const block = free_list_;
  free_list_ = block->next;
  --free_blocks_;
  block->size_class = size_class;
  block->cell_bytes = kCellBytes[size_class];
  block->is_free = false;
  block->swept_in_even = even_sweep_;
  block->may_hold_pages = true;
  return block;
}

void OldSpace::make_free(Block* block) noexcept {
  block->is_free = true;
  block->next = free_list_;
  free_list_ = block;
  ++free_blocks_;
}

void OldSpace::begin_marking() { live_color_ = other_color(live_color_); }

void OldSpace::begin_sweeping() {
  cursors_.fill(Cursor{});
  current_.fill(nullptr);
  partial_.fill(nullptr);
  even_sweep_ = !even_sweep_;
  unswept_blocks_ = chunk_count_.load(std::memory_order_relaxed) * kUsableBlocks - free_blocks_;
  sweep_chunk_ = chunks_;
  sweep_block_ = kFirstBlock;
}

bool OldSpace::sweep_some(std::size_t blocks) {
  while (blocks != 0 && unswept_blocks_ != 0) {
    // A chunk without a block to sweep counts as one.
    --blocks;
    Block* const block = next_unswept();
    if (block == nullptr) {
      sweep_chunk_ = sweep_chunk_->next;
      sweep_block_ = kFirstBlock;
      continue;
    }
    --unswept_blocks_;
    sweep(block);
  }
  return unswept_blocks_ != 0;
}

Block* OldSpace::next_unswept() noexcept {
  while (sweep_block_ < kBlocksPerChunk) {
    Block* const block = &sweep_chunk_->blocks[sweep_block_++];
    if (!block->is_free && block->swept_in_even != even_sweep_) return block;
  }
  return nullptr;
}

void OldSpace::sweep(Block* block) {
  const std::size_t cells = cells_in_block(block->cell_bytes);
  block->swept_in_even = even_sweep_;
  std::uint8_t* const marks = mark_byte(reinterpret_cast<void*>(block_start(block)));
  const std::size_t live = kill_other_colors(marks, live_color_);
  if (settings_.poison) fill_free_cells(block);
  if (live == 0) {
    make_free(block);
  } else if ((cells - live) * kWorthwhileFraction >= cells) {
    block->next = partial_[block->size_class];
    partial_[block->size_class] = block;
  }
}

void OldSpace::fill_free_cells(const Block* block) const {
  const std::uintptr_t end = cells_end(block);
  for (std::uintptr_t cell = block_start(block); cell < end; cell += block->cell_bytes) {
    if (*mark_byte(reinterpret_cast<void*>(cell)) != kFreeCell) continue;
    platform::unpoison(reinterpret_cast<void*>(cell), block->cell_bytes);
    fill_with_poison(cell, block->cell_bytes);
    platform::poison(reinterpret_cast<void*>(cell), block->cell_bytes);
  }
}

void OldSpace::give_back(std::size_t keep_bytes) noexcept {
  release_free_chunks(blocks_for(keep_bytes));
  decommit_free_blocks(full_blocks_for(keep_bytes));
  rebuild_free_list();
}

void OldSpace::release_free_chunks(std::size_t keep_blocks) noexcept {
  const auto is_free = [](const Chunk* chunk) {
    return std::all_of(&chunk->blocks[kFirstBlock], &chunk->blocks[kBlocksPerChunk],
                       [](const Block& block) { return block.is_free; });
  };
  for (Chunk** link = &chunks_; *link != nullptr;) {
    Chunk* const chunk = *link;
    if (free_blocks_ < keep_blocks + kUsableBlocks || !is_free(chunk)) {
      link = &chunk->next;
      continue;
    }
    *link = chunk->next;
    free_blocks_ -= kUsableBlocks;
    chunk_count_.fetch_sub(1, std::memory_order_relaxed);
    space_.release_chunk(reinterpret_cast<std::uintptr_t>(chunk));
  }
}

void OldSpace::decommit_free_blocks(std::size_t keep_blocks) noexcept {
  for (Chunk* chunk = chunks_; chunk != nullptr; chunk = chunk->next) {
    // Neighbouring blocks are handed back together.
    std::size_t first = kFirstBlock;
    while (first < kBlocksPerChunk) {
      std::size_t last = first;
      while (last < kBlocksPerChunk && chunk->blocks[last].is_free &&
             chunk->blocks[last].may_hold_pages) {
        if (keep_blocks != 0) {
          --keep_blocks;
          break;
        }
        chunk->blocks[last++].may_hold_pages = false;
      }
      if (last == first) {
        ++first;
        continue;
      }
      platform::decommit(reinterpret_cast<void*>(block_start(&chunk->blocks[first])),
                         (last - first) * kBlockBytes);
      first = last;
    }
  }
}

void OldSpace::rebuild_free_list() noexcept {
  free_list_ = nullptr;
  free_blocks_ = 0;
  // Blocks that still have memory come to the front.
  for (const bool with_pages : {false, true}) {
    for (Chunk* chunk = chunks_; chunk != nullptr; chunk = chunk->next) {
      for (std::size_t i = kBlocksPerChunk; i-- > kFirstBlock;) {
        Block* const block = &chunk->blocks[i];
        if (block->is_free && block->may_hold_pages == with_pages) {
          make_free(block);
        }
      }
    }
  }
}

}  // namespace fallow::detail
