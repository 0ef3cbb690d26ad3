#include "device/first_fit.h"

#include <algorithm>

namespace fallow::device::detail {

Block* FirstFit::find(std::uint64_t bytes, bool) const noexcept {
  Block* block = first_;
  while (block != nullptr && block->bytes < bytes) block = block->next;
  return block;
}

void FirstFit::insert(Block* block) noexcept {
  // The free block before it is usually not far, and never behind other free blocks.
  Block* previous = block->before;
  while (previous != nullptr && previous->state() != BlockState::kFree) previous = previous->before;
  block->previous = previous;
  block->next = previous != nullptr ? previous->next : first_;
  (previous != nullptr ? previous->next : first_) = block;
  if (block->next != nullptr) block->next->previous = block;
}

void FirstFit::remove(Block* block) noexcept {
  (block->previous != nullptr ? block->previous->next : first_) = block->next;
  if (block->next != nullptr) block->next->previous = block->previous;
}

std::uint64_t FirstFit::largest() const noexcept {
  std::uint64_t most = 0;
  for (const Block* block = first_; block != nullptr; block = block->next) {
    most = std::max(most, block->bytes);
  }
  return most;
}

}  // namespace fallow::device::detail
