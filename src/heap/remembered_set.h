#pragma once

#include <cstddef>
#include <cstdint>

#include "fallow/array.h"
#include "fallow/detail/barrier.h"
#include "heap/push_buffer.h"

namespace fallow::detail {

/// kCardItems items of a long reference array. Its byte behind the items counts the slots that were
/// recorded one by one; at kFullCard the card is scanned instead.
struct CardEntry {
  Object* array;
  std::size_t card;
};

inline constexpr std::uint8_t kFullCard = 16;

/// The card counts behind the items of a long reference array.
inline std::uint8_t* card_counts(Object* array, std::size_t length) noexcept {
  return reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(array) +
                                         ArrayBase::kItemsOffset + length * sizeof(Slot));
}

/// Where old objects may refer to young ones: slots, and cards of long arrays. One per mutator, so
/// that recording takes no lock. Recording never fails: when there is no memory for an entry the
/// set says "everything", and the next minor collection looks at the whole old space.
class RememberedSet {
 public:
  void add_slot(Slot* slot) noexcept {
    if (slots_.size() >= batch_end_) end_batch();
    if (!slots_.push(slot)) everything_ = true;
  }
  /// An item of a long array: its slot, or the card that this store fills up. Several mutators may
  /// do so for one card at a time: a count that gets lost only makes the card fill up later, and
  /// what was stored while it seemed full is in the entry of whoever filled it.
  void add_item(CardEntry card, std::size_t length, Slot* slot) noexcept {
    std::uint8_t* const count = &card_counts(card.array, length)[card.card];
    const std::uint8_t before = __atomic_load_n(count, __ATOMIC_RELAXED);
    if (before == kFullCard) return;
    __atomic_store_n(count, static_cast<std::uint8_t>(before + 1), __ATOMIC_RELAXED);
    if (before == 0) add_card(counting_cards_, card);
    if (before + 1 == kFullCard) {
      add_card(full_cards_, card);
    } else {
      add_slot(slot);
    }
  }
  /// Moves all entries of `other` into this set.
  void absorb(RememberedSet& other) noexcept;
  void clear() noexcept;

  [[nodiscard]] const PushBuffer<Slot*>& slots() const noexcept { return slots_; }
  /// Cards to scan.
  [[nodiscard]] const PushBuffer<CardEntry>& full_cards() const noexcept { return full_cards_; }
  /// All cards whose count is not zero.
  [[nodiscard]] const PushBuffer<CardEntry>& counting_cards() const noexcept {
    return counting_cards_;
  }
  [[nodiscard]] bool everything() const noexcept { return everything_; }

 private:
  /// Duplicates are looked for after so many new slots: a program that alternates between null and
  /// a young object in one slot without allocating would otherwise fill memory.
  static constexpr std::size_t kBatch = std::size_t{64} << 10;
  /// At this size duplicates are removed though the latest slots show none.
  static constexpr std::size_t kFirstSort = std::size_t{1} << 20;

  [[gnu::noinline]] void end_batch() noexcept;
  /// Whether half of the latest slots occur twice among them.
  [[nodiscard]] bool repeats() const noexcept;
  void remove_duplicates() noexcept;
  [[gnu::noinline]] void add_card(PushBuffer<CardEntry>& cards, CardEntry entry) noexcept;

  PushBuffer<Slot*> slots_;
  PushBuffer<CardEntry> full_cards_;
  PushBuffer<CardEntry> counting_cards_;
  std::size_t batch_end_ = kBatch;
  std::size_t sort_at_ = kFirstSort;
  bool everything_ = false;
};

}  // namespace fallow::detail
