#include "heap/remembered_set.h"

#include <algorithm>
#include <array>

namespace fallow::detail {

void RememberedSet::add_card(PushBuffer<CardEntry>& cards, CardEntry entry) noexcept {
  if (cards.push(entry)) return;
  everything_ = true;
  // Only entries lead to counts: one that stayed full without an entry would hide all later stores.
  const std::size_t length = static_cast<ArrayBase*>(entry.array)->length();
  __atomic_store_n(&card_counts(entry.array, length)[entry.card], std::uint8_t{0},
                   __ATOMIC_RELAXED);
}

void RememberedSet::absorb(RememberedSet& other) noexcept {
  for (Slot* const slot : other.slots_) add_slot(slot);
  for (const CardEntry& card : other.counting_cards_) add_card(counting_cards_, card);
  for (const CardEntry& card : other.full_cards_) add_card(full_cards_, card);
  everything_ = everything_ || other.everything_;
  other.clear();
}

void RememberedSet::clear() noexcept {
  slots_.clear();
  full_cards_.clear();
  counting_cards_.clear();
  batch_end_ = kBatch;
  sort_at_ = kFirstSort;
  everything_ = false;
}

void RememberedSet::end_batch() noexcept {
  if (repeats() || slots_.size() >= sort_at_) remove_duplicates();
  batch_end_ = slots_.size() + kBatch;
}

bool RememberedSet::repeats() const noexcept {
  constexpr std::size_t kLatest = 1024;
  std::array<Slot*, kLatest> seen{};
  std::size_t repeated = 0;
  for (Slot* const* slot = slots_.end() - kLatest; slot != slots_.end(); ++slot) {
    const std::uintptr_t word = reinterpret_cast<std::uintptr_t>(*slot) / sizeof(Slot);
    Slot*& place = seen[(word ^ (word / kLatest)) % kLatest];
    repeated += place == *slot ? 1 : 0;
    place = *slot;
  }
  return repeated >= kLatest / 2;
}

void RememberedSet::remove_duplicates() noexcept {
  std::sort(slots_.begin(), slots_.end());
  Slot** const end = std::unique(slots_.begin(), slots_.end());
  slots_.resize_down(static_cast<std::size_t>(end - slots_.begin()));
  // Sorting is paid for by at least as many stores as the set has entries.
  sort_at_ = std::max(kFirstSort, slots_.size() * 2);
}

}  // namespace fallow::detail
