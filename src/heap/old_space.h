#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fallow/object.h"
#include "heap/chunk.h"

namespace fallow::detail {

/// The space for survivors: blocks of one size class each, objects never move.
///
/// Allocation bumps through runs of free cells, with one cursor per size class. After marking
/// blocks are swept one by one in the order of their addresses, by the cycle and by cursors that
/// need one; that they wait for it is a matter of parity, so that no pass over all blocks begins a
/// sweep. Used only while all mutators are stopped; not thread-safe.
class OldSpace {
 public:
  struct Settings {
    bool poison;
    bool huge_pages;  ///< asked for from the second chunk on: a small heap stays small
  };

  OldSpace(HeapCore* heap, AddressSpace& space, const Settings& settings);
  ~OldSpace();
  OldSpace(const OldSpace&) = delete;
  OldSpace& operator=(const OldSpace&) = delete;

  /// Makes sure that objects of `bytes` in all can be promoted whatever their classes are: every
  /// class may open a block. False when the system refuses. Does nothing in the usual case.
  bool reserve_for(std::size_t bytes);
  /// Bytes of new chunks that reserve_for(bytes) would take from the system.
  [[nodiscard]] std::size_t growth_for(std::size_t bytes) const noexcept;

  /// A free cell of a class, marked with the live colour; adds its size to `bytes`. Never fails
  /// after reserve_for.
  [[gnu::always_inline]] Object* allocate(std::uint8_t size_class, std::size_t& bytes) {
    Cursor& cursor = cursors_[size_class];
    while (cursor.free >= cursor.end) [[unlikely]]
      next_run(size_class);
    const std::uintptr_t cell = cursor.free;
    cursor.free = cell + cursor.cell_bytes;
    bytes += cursor.cell_bytes;
    *reinterpret_cast<std::uint8_t*>(cursor.mark_bias + cell / kMarkGranule) = live_color_;
    return reinterpret_cast<Object*>(cell);
  }

  /// The colour of objects that are live, or new since marking began.
  [[nodiscard]] MarkColor live_color() const noexcept { return live_color_; }

  /// A cycle begins: everything has been swept; from now on live objects have the other colour.
  void begin_marking();
  /// Marking is over: every block waits to be swept, and cells of the old colour are dead.
  void begin_sweeping();
  /// Sweeps up to `blocks` blocks; false when nothing is left to sweep.
  bool sweep_some(std::size_t blocks);
  [[nodiscard]] std::size_t unswept_blocks() const noexcept { return unswept_blocks_; }

  /// Gives free chunks back to the address space, which may serve other heaps with them, and the
  /// memory of other free blocks back to the system, but for what reserve_for(keep_bytes) would
  /// take again at once. Everything must be swept.
  void give_back(std::size_t keep_bytes) noexcept;

  [[nodiscard]] std::size_t committed_bytes() const noexcept {
    return chunk_count_.load(std::memory_order_relaxed) * kChunkBytes;
  }
  [[nodiscard]] std::size_t free_block_count() const noexcept { return free_blocks_; }

  /// Calls visit(object, colour) for each cell in use; dead unswept ones have the old colour.
  template <class Visit>
  void for_each_object(Visit&& visit) const {
    for (const Chunk* chunk = chunks_; chunk != nullptr; chunk = chunk->next) {
      for (std::size_t i = kFirstBlock; i < kBlocksPerChunk; ++i) {
        const Block* const block = &chunk->blocks[i];
        if (!block->is_free) for_each_object_in(block, visit);
      }
    }
  }
  template <class Visit>
  static void for_each_object_in(const Block* block, Visit&& visit) {
    const std::uintptr_t end = cells_end(block);
    for (std::uintptr_t cell = block_start(block); cell < end; cell += block->cell_bytes) {
      auto* const object = reinterpret_cast<Object*>(cell);
      const std::uint8_t color = *mark_byte(object);
      if (color != kFreeCell) visit(object, static_cast<MarkColor>(color));
    }
  }
  [[nodiscard]] const Chunk* chunks() const noexcept { return chunks_; }

 private:
  /// A run of free cells; `end` is the end of the last one.
  struct Cursor {
    std::uintptr_t free = 0;
    std::uintptr_t end = 0;
    std::uintptr_t mark_bias = 0;  ///< address of a cell's mark byte less address / kMarkGranule
    std::size_t cell_bytes = 0;
  };

  void next_run(std::uint8_t size_class);
  bool find_run(Cursor& cursor, const Block* block, std::uintptr_t from);
  static void open_run(Cursor& cursor, const Block* block, std::uintptr_t start,
                       std::uintptr_t stop) noexcept;
  /// A block with free cells among others, swept; nullptr when the class has none.
  Block* next_partial_block(std::uint8_t size_class);
  Block* take_free_block(std::uint8_t size_class);
  bool add_chunk();
  /// The next block to sweep; nullptr when there is none in the rest of this chunk.
  Block* next_unswept() noexcept;
  void sweep(Block* block);
  void make_free(Block* block) noexcept;
  void release_free_chunks(std::size_t keep_blocks) noexcept;
  void decommit_free_blocks(std::size_t keep_blocks) noexcept;
  void rebuild_free_list() noexcept;
  void fill_free_cells(const Block* block) const;

  HeapCore* heap_;
  AddressSpace& space_;
  const Settings settings_;
  MarkColor live_color_ = kColorA;
  std::array<Cursor, kSizeClassCount> cursors_{};
  std::array<Block*, kSizeClassCount> current_{};  ///< the blocks that the cursors are in
  std::array<Block*, kSizeClassCount> partial_{};
  bool even_sweep_ = false;
  std::size_t unswept_blocks_ = 0;
  Chunk* sweep_chunk_ = nullptr;  ///< where next_unswept() goes on
  std::size_t sweep_block_ = kFirstBlock;
  Block* free_list_ = nullptr;
  std::size_t free_blocks_ = 0;
  Chunk* chunks_ = nullptr;
  std::atomic<std::size_t> chunk_count_{0};  ///< read by statistics at any time
};

}  // namespace fallow::detail
