#include "profile/record/frame_trie.h"

#include "platform/split_mix.h"

namespace fallow::profile {

bool FrameTrie::allocate() noexcept {
  if (nodes_.is_allocated()) return true;
  if (!nodes_.allocate(kMaxNodes + 1)) return false;
  if (slots_.allocate(kFirstSlots)) {
    slot_count_ = kFirstSlots;
    return true;
  }
  nodes_.release();
  return false;
}

void FrameTrie::clear(StackEntry cut, StackEntry overflow) noexcept {
  nodes_.clear();
  slots_.clear();
  size_ = 0;
  overflows_ = 0;
  cut_ = cut;
  overflow_node_ = child(0, overflow);
}

std::size_t FrameTrie::memory_bytes() const noexcept {
  return size_ * sizeof(Node) + slot_count_ * sizeof(std::uint32_t);
}

std::size_t FrameTrie::slot_of(const Node& node) const noexcept {
  const std::uint64_t key = node.value ^ (std::uint64_t{node.detail} << 17) ^
                            (std::uint64_t{node.parent} * platform::kSplitMixStep);
  return static_cast<std::size_t>(platform::mix_bits(key)) & (slot_count_ - 1);
}

bool FrameTrie::grow() noexcept {
  LazyMemory<std::uint32_t> bigger;
  if (!bigger.allocate(slot_count_ * 2)) return false;
  slots_.release();
  slots_ = bigger;
  slot_count_ *= 2;
  for (std::uint32_t number = 1; number <= size_; ++number) {
    std::size_t slot = slot_of(nodes_[number]);
    while (slots_[slot] != 0) slot = (slot + 1) & (slot_count_ - 1);
    slots_[slot] = number;
  }
  return true;
}

std::uint32_t FrameTrie::child(std::uint32_t parent, StackEntry entry) noexcept {
  const Node wanted{entry.value, parent, entry.detail};
  std::size_t slot = slot_of(wanted);
  while (slots_[slot] != 0) {
    const Node& node = nodes_[slots_[slot]];
    if (node.value == wanted.value && node.parent == parent && node.detail == wanted.detail) {
      return slots_[slot];
    }
    slot = (slot + 1) & (slot_count_ - 1);
  }
  if (size_ == kMaxNodes) return kFull;
  if (std::size_t{size_} * 2 >= slot_count_) {
    if (!grow()) return kFull;
    return child(parent, entry);
  }
  nodes_[++size_] = wanted;
  slots_[slot] = size_;
  return size_;
}

std::uint32_t FrameTrie::node_of(const StackTrace& trace) noexcept {
  std::uint32_t node = 0;
  const auto descend = [&](StackEntry entry) {
    if (node != kFull) node = child(node, entry);
  };
  for (std::size_t i = trace.roots(); i-- > 0;) descend(trace.root(i));
  if (trace.is_cut()) descend(cut_);
  for (std::size_t i = trace.leaves(); i-- > 0;) descend(trace.leaf(i));
  if (node != kFull) return node;
  ++overflows_;
  return overflow_node_;
}

}  // namespace fallow::profile
