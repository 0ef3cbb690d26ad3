#include "device/region.h"

#include <utility>

namespace fallow::device::detail {

Region::Region(const Place& place, std::unique_ptr<FitAlgorithm> fit, Block* whole) noexcept
    : place_(place), fit_(std::move(fit)), first_(whole) {
  whole->offset = 0;
  whole->bytes = place.bytes;
  whole->before = nullptr;
  whole->after = nullptr;
  whole->region = place.number;
  whole->set(0, BlockState::kFree);
  fit_->insert(whole);
}

Block* Region::split(Block* block, std::uint64_t bytes, BlockPool& pool) noexcept {
  Block* const rest = pool.take();
  rest->offset = block->offset + bytes;
  rest->bytes = block->bytes - bytes;
  rest->region = place_.number;
  rest->before = block;
  rest->after = block->after;
  if (rest->after != nullptr) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  return rest;
}

Block* Region::take(Block* block, std::uint64_t bytes, std::uint64_t alignment,
                    BlockPool& pool) noexcept {
  fit_->remove(block);
  const std::uint64_t skipped = (0 - block->offset) & (alignment - 1);
  if (skipped != 0) {
    Block* const aligned = split(block, skipped, pool);
    fit_->insert(block);
    block = aligned;
  }
  // No longer free for the neighbours that are free from now on.
  block->set(0, BlockState::kPart);
  if (block->bytes != bytes) {
    Block* const rest = split(block, bytes, pool);
    rest->set(0, BlockState::kFree);
    fit_->insert(rest);
  }
  used_ += bytes;
  return block;
}

void Region::join_with_next(Block* block, BlockPool& pool) noexcept {
  Block* const next = block->after;
  block->bytes += next->bytes;
  block->after = next->after;
  if (block->after != nullptr) block->after->before = block;
  pool.put_back(next);
}

void Region::give_back(Block* block, BlockPool& pool) noexcept {
  used_ -= block->bytes;
  if (Block* const next = block->after; next != nullptr && next->state() == BlockState::kFree) {
    fit_->remove(next);
    join_with_next(block, pool);
  }
  Block* const before = block->before;
  if (before != nullptr && before->state() == BlockState::kFree) {
    fit_->remove(before);
    join_with_next(before, pool);
    block = before;
  }
  block->set(0, BlockState::kFree);
  fit_->insert(block);
}

bool Region::consistent() const noexcept {
  std::uint64_t offset = 0;
  std::uint64_t used = 0;
  std::uint64_t largest = 0;
  const Block* before = nullptr;
  for (const Block* block = first_; block != nullptr; before = block, block = block->after) {
    const bool free = block->state() == BlockState::kFree;
    if (block->offset != offset || block->bytes == 0 || block->before != before) return false;
    if (block->region != place_.number || block->state() == BlockState::kUnused) return false;
    if (free && before != nullptr && before->state() == BlockState::kFree) return false;
    offset += block->bytes;
    if (!free) used += block->bytes;
    if (free && block->bytes > largest) largest = block->bytes;
  }
  return offset == place_.bytes && used == used_ && largest == fit_->largest();
}

}  // namespace fallow::device::detail
