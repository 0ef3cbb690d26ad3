#include "device/segregated_fit.h"

#include <algorithm>

namespace fallow::device::detail {

SegregatedFit::Bin SegregatedFit::next_filled(Bin from) const noexcept {
  if (from.second < kSecond) {
    const std::uint32_t lists = filled_lists_[from.first] & (~std::uint32_t{0} << from.second);
    if (lists != 0) return {from.first, static_cast<unsigned>(std::countr_zero(lists))};
  }
  const std::uint64_t levels = filled_ & (~std::uint64_t{0} << (from.first + 1));
  if (levels == 0) return {kFirstLevels, 0};
  const auto first = static_cast<unsigned>(std::countr_zero(levels));
  return {first, static_cast<unsigned>(std::countr_zero(filled_lists_[first]))};
}

Block* SegregatedFit::first_fitting(Bin bin, std::uint64_t bytes,
                                    std::size_t looked_at) const noexcept {
  Block* block = lists_[bin.first][bin.second];
  for (std::size_t i = 0; block != nullptr && i < looked_at; ++i, block = block->next) {
    if (block->bytes >= bytes) return block;
  }
  return nullptr;
}

Block* SegregatedFit::best_in(Bin bin, std::uint64_t bytes) const noexcept {
  Block* best = nullptr;
  for (Block* block = lists_[bin.first][bin.second]; block != nullptr; block = block->next) {
    if (block->bytes >= bytes && (best == nullptr || block->bytes < best->bytes)) best = block;
  }
  return best;
}

Block* SegregatedFit::find(std::uint64_t bytes, bool thorough) const noexcept {
  const Bin own = bin_of(bytes);
  // In the lists of single sizes, and at the lower edge of every other, all blocks fit.
  const bool all_fit =
      own.first == 0 || std::countr_zero(bytes >> shift_) >= static_cast<int>(own.first) - 1;
  const Bin later = next_filled(all_fit ? own : Bin{own.first, own.second + 1});
  if (best_) {
    if (Block* const block = best_in(own, bytes)) return block;
    return later.first == kFirstLevels ? nullptr : best_in(later, bytes);
  }
  if (later.first != kFirstLevels) return lists_[later.first][later.second];
  return first_fitting(own, bytes, thorough ? SIZE_MAX : kLookedAt);
}

void SegregatedFit::insert(Block* block) noexcept {
  const auto [first, second] = bin_of(block->bytes);
  Block*& head = lists_[first][second];
  block->previous = nullptr;
  block->next = head;
  if (head != nullptr) head->previous = block;
  head = block;
  filled_lists_[first] |= std::uint32_t{1} << second;
  filled_ |= std::uint64_t{1} << first;
}

void SegregatedFit::remove(Block* block) noexcept {
  if (block->next != nullptr) block->next->previous = block->previous;
  if (block->previous != nullptr) {
    block->previous->next = block->next;
    return;
  }
  const auto [first, second] = bin_of(block->bytes);
  lists_[first][second] = block->next;
  if (block->next != nullptr) return;
  filled_lists_[first] &= ~(std::uint32_t{1} << second);
  if (filled_lists_[first] == 0) filled_ &= ~(std::uint64_t{1} << first);
}

std::uint64_t SegregatedFit::largest() const noexcept {
  if (filled_ == 0) return 0;
  const auto first = static_cast<unsigned>(std::bit_width(filled_)) - 1;
  const auto second = static_cast<unsigned>(std::bit_width(filled_lists_[first])) - 1;
  std::uint64_t most = 0;
  for (const Block* block = lists_[first][second]; block != nullptr; block = block->next) {
    most = std::max(most, block->bytes);
  }
  return most;
}

}  // namespace fallow::device::detail
