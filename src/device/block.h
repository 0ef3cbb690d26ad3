#pragma once

#include <atomic>
#include <cstdint>

namespace fallow::device::detail {

class Region;

enum class BlockState : std::uint64_t {
  kUnused,    ///< in no region
  kFree,      ///< may be handed out
  kLive,      ///< the first chunk of an allocation
  kReleased,  ///< given back by its owner; still to be freed
  kPart,      ///< a further chunk of an allocation
};

/// The books of a piece of a region. Never freed: a stale handle may still look at it. One cache
/// line, since every operation touches several blocks.
struct alignas(64) Block {
  /// Serial number of the allocation and the BlockState below it, in one word, so that a free is
  /// one compare-and-swap and finds out about a double free without a lock.
  static constexpr unsigned kStateBits = 3;

  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  Block* before = nullptr;  ///< neighbours in the region, by address
  Block* after = nullptr;
  union {
    Block* previous = nullptr;  ///< in a list of free blocks
    Block* pending_next;        ///< in the list of pending frees
    std::uint64_t requested;    ///< of an allocation: its bytes before rounding
  };
  Block* next = nullptr;  ///< in a list of free blocks; of an allocation: its next chunk
  std::atomic<std::uint64_t> ticket{0};
  std::uint32_t slot = 0;    ///< own place in the BlockPool
  std::uint32_t region = 0;  ///< number of the region

  static std::uint64_t make_ticket(std::uint64_t serial, BlockState state) noexcept {
    return serial << kStateBits | static_cast<std::uint64_t>(state);
  }
  [[nodiscard]] BlockState state() const noexcept {
    return static_cast<BlockState>(ticket.load(std::memory_order_relaxed) &
                                   ((1U << kStateBits) - 1));
  }
  void set(std::uint64_t serial, BlockState state) noexcept {
    ticket.store(make_ticket(serial, state), std::memory_order_release);
  }
};
static_assert(sizeof(Block) == 64);

}  // namespace fallow::device::detail
