#include "heap/remembered_set.h"

#include <algorithm>

namespace fallow::detail {

void RememberedSet::add_card(CardEntry entry) noexcept {
  if (cards_.push(entry)) return;
  everything_ = true;
  // Only entries lead to cards: one that stayed dirty without an entry would hide all later stores.
  const std::size_t length = static_cast<ArrayBase*>(entry.array)->length();
  __atomic_store_n(&card_table(entry.array, length)[entry.card], std::uint8_t{0}, __ATOMIC_RELAXED);
}

void RememberedSet::absorb(RememberedSet& other) noexcept {
  for (Slot* const slot : other.slots_) add_slot(slot);
  for (const CardEntry& card : other.cards_) add_card(card);
  everything_ = everything_ || other.everything_;
  other.clear();
}

void RememberedSet::clear() noexcept {
  slots_.clear();
  cards_.clear();
  compact_at_ = kFirstCompaction;
  everything_ = false;
}

void RememberedSet::compact() noexcept {
  std::sort(slots_.begin(), slots_.end());
  Slot** const end = std::unique(slots_.begin(), slots_.end());
  slots_.resize_down(static_cast<std::size_t>(end - slots_.begin()));
  // Sorting is paid for by at least as many stores as the set has entries.
  compact_at_ = std::max(kFirstCompaction, slots_.size() * 2);
}

}  // namespace fallow::detail
