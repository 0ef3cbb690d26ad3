#include "heap/old_space.h"

#include <algorithm>
#include <new>

#include "heap/poison.h"
#include "platform/clock.h"
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

}  // namespace

OldSpace::OldSpace(HeapCore* heap, AddressSpace& space, const Settings& settings)
    : heap_(heap), space_(space), settings_(settings) {}

OldSpace::~OldSpace() {
  while (!chunks_.empty()) {
    Chunk* const chunk = chunks_.first();
    chunks_.remove(chunk);
    space_.release_chunk(reinterpret_cast<std::uintptr_t>(chunk));
  }
}

std::size_t OldSpace::growth_for(std::size_t bytes) const noexcept {
  const std::size_t blocks = blocks_for(bytes);
  if (blocks <= free_blocks()) return 0;
  return (blocks - free_blocks() + kUsableBlocks - 1) / kUsableBlocks * kChunkBytes;
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
                              settings_.huge_pages && !chunks_.empty());
  auto* const chunk = ::new (reinterpret_cast<void*>(memory)) Chunk{};
  chunk->heap = heap_;
  chunk->clean = kUsableBlockSet;
  chunks_.push_front(chunk);
  with_clean_.push_back(chunk);
  clean_blocks_ += kUsableBlocks;
  chunk_count_.fetch_add(1, std::memory_order_relaxed);
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
  if (free_blocks() == 0 && !add_chunk()) {
    platform::fatal("the old space has no block although blocks were reserved");
  }
  const bool resident = !with_resident_.empty();
  Chunk* const chunk = resident ? with_resident_.first() : with_clean_.first();
  BlockSet& free = resident ? chunk->resident : chunk->clean;
  Block* const block = &chunk->blocks[std::countr_zero(free)];
  free &= free - 1;
  if (resident) {
    --resident_blocks_;
    if (free == 0) with_resident_.remove(chunk);
  } else {
    --clean_blocks_;
    if (free == 0) with_clean_.remove(chunk);
  }
  chunk->used |= bit_of(block);
  ++used_blocks_;
  block->size_class = size_class;
  block->cell_bytes = kCellBytes[size_class];
  block->swept_in_even = even_sweep_;
  return block;
}

void OldSpace::make_free(Block* block) noexcept {
  Chunk* const chunk = Chunk::of(block);
  chunk->used &= ~bit_of(block);
  --used_blocks_;
  if (chunk->resident != 0) with_resident_.remove(chunk);
  with_resident_.push_front(chunk);
  chunk->resident |= bit_of(block);
  ++resident_blocks_;
  chunk->freed_at_ns = platform::monotonic_coarse_ns();
}

void OldSpace::begin_marking() { live_color_ = other_color(live_color_); }

void OldSpace::begin_sweeping() {
  cursors_.fill(Cursor{});
  current_.fill(nullptr);
  partial_.fill(nullptr);
  even_sweep_ = !even_sweep_;
  unswept_blocks_ = used_blocks_;
  sweep_chunk_ = chunks_.first();
  sweep_block_ = kFirstBlock;
}

bool OldSpace::sweep_some(std::size_t blocks) {
  while (blocks != 0 && unswept_blocks_ != 0) {
    // A chunk without a block to sweep counts as one.
    --blocks;
    Block* const block = next_unswept();
    if (block == nullptr) {
      sweep_chunk_ = chunks_.next(sweep_chunk_);
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
    if (is_used(block) && block->swept_in_even != even_sweep_) return block;
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

bool OldSpace::contains(const Chunk* chunk) const noexcept {
  bool found = false;
  chunks_.for_each([&](const Chunk* each) { found = found || each == chunk; });
  return found;
}

}  // namespace fallow::detail
