#include "heap/remembered_set.h"

#include <algorithm>

namespace fallow::detail {

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
