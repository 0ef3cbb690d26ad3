#pragma once

#include <array>
#include <atomic>
#include <bit>
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
/// sweep. Free blocks that hold memory of the system are used before those that do not, and the
/// last freed first, so that the others can age. Used only while all mutators are stopped, or under
/// the nursery's lock while no collection runs; not thread-safe.
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

  // Handing memory back to the system, in three steps, of which the second needs neither stopped
  // mutators nor a lock.
  /// Free blocks of one chunk that belong to nobody meanwhile.
  struct IdleBlocks {
    Chunk* chunk = nullptr;
    BlockSet blocks = 0;

    void hand_back() const noexcept;
  };
  /// Up to `at_most` blocks of the chunk in which nothing has become free for the longest time, if
  /// not since `freed_by_ns`. Keeps what reserve_for(keep_bytes) needs.
  IdleBlocks take_idle(std::uint64_t freed_by_ns, std::size_t at_most,
                       std::size_t keep_bytes) noexcept;
  /// The blocks are free again.
  void return_clean(const IdleBlocks& idle) noexcept;
  /// A chunk that holds nothing, for the address space; nullptr when there is none, or when
  /// reserve_for(keep_bytes) needs it.
  Chunk* take_clean_chunk(std::size_t keep_bytes) noexcept;
  /// Whether take_idle() will have something to take once it is old enough.
  [[nodiscard]] bool has_idle(std::size_t keep_bytes) const noexcept;

  [[nodiscard]] std::size_t committed_bytes() const noexcept {
    return chunk_count_.load(std::memory_order_relaxed) * kChunkBytes;
  }
  /// Free blocks, and those of them that may hold memory of the system.
  [[nodiscard]] std::size_t free_blocks() const noexcept {
    return resident_blocks_ + clean_blocks_;
  }
  [[nodiscard]] std::size_t resident_free_blocks() const noexcept { return resident_blocks_; }

  /// Calls visit(object, colour) for each cell in use; dead unswept ones have the old colour.
  template <class Visit>
  void for_each_object(Visit&& visit) const {
    chunks_.for_each([&visit](const Chunk* chunk) {
      for (BlockSet rest = chunk->used; rest != 0; rest &= rest - 1) {
        for_each_object_in(&chunk->blocks[std::countr_zero(rest)], visit);
      }
    });
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
  [[nodiscard]] bool contains(const Chunk* chunk) const noexcept;

 private:
  /// A run of free cells; `end` is the end of the last one.
  struct Cursor {
    std::uintptr_t free = 0;
    std::uintptr_t end = 0;
    std::uintptr_t mark_bias = 0;  ///< address of a cell's mark byte less address / kMarkGranule
    std::size_t cell_bytes = 0;
  };

  /// Blocks that objects of so many bytes fill. Rounding up to a cell wastes at most 1/8, the tail
  /// of a block at most one cell of 8 KiB.
  static constexpr std::size_t full_blocks_for(std::size_t bytes) noexcept {
    return (bytes + bytes / 4 + kBlockBytes - 1) / kBlockBytes;
  }
  /// The same, if every size class opens a block.
  static constexpr std::size_t blocks_for(std::size_t bytes) noexcept {
    return bytes == 0 ? 0 : full_blocks_for(bytes) + kSizeClassCount;
  }

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
  IntrusiveList<Chunk, &Chunk::all> chunks_;
  IntrusiveList<Chunk, &Chunk::with_resident> with_resident_;  ///< the last freed first
  IntrusiveList<Chunk, &Chunk::with_clean> with_clean_;        ///< those that hold nothing last
  std::size_t used_blocks_ = 0;
  std::size_t resident_blocks_ = 0;
  std::size_t clean_blocks_ = 0;
  std::atomic<std::size_t> chunk_count_{0};  ///< read by statistics at any time
};

}  // namespace fallow::detail
