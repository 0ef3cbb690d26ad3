#pragma once

#include <cstddef>
#include <cstdint>

#include "fallow/detail/size_classes.h"
#include "heap/address_space.h"
#include "heap/intrusive_list.h"

namespace fallow::detail {

/// Layout of the old space. A chunk is 4 MiB at an address that is a multiple of 4 MiB:
///
///     | header | mark bytes of blocks 4 … 63 | block 4 | block 5 | … | block 63 |
///
/// There is one mark byte for each 16 bytes of the chunk. The bytes that would describe the
/// metadata itself hold the chunk header instead, so that the mark byte of an address is found by a
/// shift. Objects are at least 16 bytes, so no two share a mark byte.
inline constexpr std::size_t kChunkBytes = AddressSpace::kChunkBytes;
inline constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
inline constexpr std::size_t kBlocksPerChunk = kChunkBytes / kBlockBytes;
inline constexpr std::size_t kMarkGranule = 16;
inline constexpr std::size_t kMarkBytesPerBlock = kBlockBytes / kMarkGranule;
inline constexpr std::size_t kMetadataBytes = kChunkBytes / kMarkGranule;
inline constexpr std::size_t kFirstBlock = kMetadataBytes / kBlockBytes;
inline constexpr std::size_t kUsableBlocks = kBlocksPerChunk - kFirstBlock;
static_assert(kMetadataBytes % kBlockBytes == 0);

/// What a mark byte says about the object that starts there. The two live colours alternate from
/// one full collection to the next, so that no pass has to clear marks.
enum MarkColor : std::uint8_t { kFreeCell = 0, kColorA = 1, kColorB = 2 };
constexpr MarkColor other_color(MarkColor color) { return color == kColorA ? kColorB : kColorA; }

struct Chunk;

struct alignas(64) Block {
  Block* next;
  std::uint16_t cell_bytes;
  std::uint8_t size_class;
  bool swept_in_even;  ///< parity of the last sweep that it took part in, or was opened in
};

/// One bit for each block of a chunk.
using BlockSet = std::uint64_t;
static_assert(kBlocksPerChunk == 64);
inline constexpr BlockSet kUsableBlockSet = ~BlockSet{0} << kFirstBlock;

struct Chunk {
  HeapCore* heap;
  ListLinks<Chunk> all;            ///< chunks of the old space
  ListLinks<Chunk> with_resident;  ///< those where `resident` is not empty
  ListLinks<Chunk> with_clean;     ///< … and `clean`
  BlockSet used;                   ///< blocks that have objects
  BlockSet resident;               ///< free ones that may hold memory of the system
  BlockSet clean;                  ///< free ones that do not; those in no set are being handed back
  std::uint64_t freed_at_ns;       ///< when a block last became free, by the monotonic clock
  Block blocks[kBlocksPerChunk];

  static Chunk* of(const void* address) noexcept {
    return reinterpret_cast<Chunk*>(reinterpret_cast<std::uintptr_t>(address) & ~(kChunkBytes - 1));
  }
};
static_assert(sizeof(Chunk) <= kMetadataBytes / kMarkGranule,
              "the header fits where the mark bytes of the metadata would be");

inline std::uint8_t* mark_byte(const void* address) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t base = value & ~(kChunkBytes - 1);
  return reinterpret_cast<std::uint8_t*>(base + (value - base) / kMarkGranule);
}

inline Block* block_of(const void* address) noexcept {
  const auto offset = reinterpret_cast<std::uintptr_t>(address) & (kChunkBytes - 1);
  return &Chunk::of(address)->blocks[offset / kBlockBytes];
}

inline BlockSet bit_of(const Block* block) noexcept {
  return BlockSet{1} << (block - Chunk::of(block)->blocks);
}
inline bool is_used(const Block* block) noexcept {
  return (Chunk::of(block)->used & bit_of(block)) != 0;
}

inline std::uintptr_t block_start(const Block* block) noexcept {
  const Chunk* const chunk = Chunk::of(block);
  return reinterpret_cast<std::uintptr_t>(chunk) +
         static_cast<std::size_t>(block - chunk->blocks) * kBlockBytes;
}

inline std::size_t cells_in_block(std::size_t cell_bytes) noexcept {
  return kBlockBytes / cell_bytes;
}

inline std::uintptr_t cells_end(const Block* block) noexcept {
  return block_start(block) + cells_in_block(block->cell_bytes) * block->cell_bytes;
}

}  // namespace fallow::detail
