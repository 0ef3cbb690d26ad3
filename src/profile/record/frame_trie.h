#pragma once

#include <cstddef>
#include <cstdint>

#include "profile/record/lazy_memory.h"
#include "profile/record/stack_trace.h"

namespace fallow::profile {

/// All call stacks of a recording, as a tree whose nodes are numbered from 1 and never change.
///
/// Open addressing over (parent, frame) pairs; 16 bytes a node and 8 to 16 for its place in the
/// index. At most kMaxNodes: beyond, a whole stack becomes the overflow node. Not thread-safe, but
/// node(i) may be read by anyone who has been told of i.
class FrameTrie {
 public:
  struct Node {
    std::uint64_t value;  ///< as StackEntry::value
    std::uint32_t parent;
    std::uint32_t detail;
  };
  static constexpr std::uint32_t kMaxNodes = 1U << 20;

  /// False when the system refuses memory.
  [[nodiscard]] bool allocate() noexcept;
  /// Forgets all nodes. `cut` and `overflow` are what the two markers are: their strings.
  void clear(StackEntry cut, StackEntry overflow) noexcept;

  /// The node of a stack; 0 for an empty one. O(depth).
  std::uint32_t node_of(const StackTrace& trace) noexcept;

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// 1 to size().
  [[nodiscard]] const Node& node(std::uint32_t number) const noexcept { return nodes_[number]; }
  [[nodiscard]] std::uint64_t overflows() const noexcept { return overflows_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  static constexpr std::uint32_t kFull = ~0U;
  static constexpr std::size_t kFirstSlots = std::size_t{1} << 14;

  std::uint32_t child(std::uint32_t parent, StackEntry entry) noexcept;
  [[nodiscard]] std::size_t slot_of(const Node& node) const noexcept;
  bool grow() noexcept;

  LazyMemory<Node> nodes_;
  LazyMemory<std::uint32_t> slots_;
  std::size_t slot_count_ = 0;
  std::uint32_t size_ = 0;
  StackEntry cut_{};
  std::uint32_t overflow_node_ = 0;
  std::uint64_t overflows_ = 0;
};

}  // namespace fallow::profile
