#pragma once

#include <cstddef>
#include <cstdint>

#include "fallow/array.h"
#include "fallow/detail/barrier.h"
#include "heap/push_buffer.h"

namespace fallow::detail {

/// A dirty card: kCardItems items of a long reference array.
struct CardEntry {
  Object* array;
  std::size_t card;
};

/// Where old objects may refer to young ones: slots, and cards of long arrays. One per mutator, so
/// that recording takes no lock. Recording never fails: when there is no memory for an entry the
/// set says "everything", and the next minor collection looks at the whole old space.
class RememberedSet {
 public:
  void add_slot(Slot* slot) noexcept {
    if (slots_.size() >= compact_at_) compact();
    if (!slots_.push(slot)) everything_ = true;
  }
  /// The card is dirty already.
  void add_card(CardEntry entry) noexcept;
  /// Moves all entries of `other` into this set.
  void absorb(RememberedSet& other) noexcept;
  void clear() noexcept;

  [[nodiscard]] const PushBuffer<Slot*>& slots() const noexcept { return slots_; }
  [[nodiscard]] const PushBuffer<CardEntry>& cards() const noexcept { return cards_; }
  [[nodiscard]] bool everything() const noexcept { return everything_; }

 private:
  static constexpr std::size_t kFirstCompaction = std::size_t{64} << 10;

  /// Drops duplicates: a program that alternates between null and a young object in one slot
  /// without allocating would otherwise fill memory.
  void compact() noexcept;

  PushBuffer<Slot*> slots_;
  PushBuffer<CardEntry> cards_;
  std::size_t compact_at_ = kFirstCompaction;
  bool everything_ = false;
};

/// The card bytes behind the items of a long reference array.
inline std::uint8_t* card_table(Object* array, std::size_t length) noexcept {
  return reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(array) +
                                         ArrayBase::kItemsOffset + length * sizeof(Slot));
}

}  // namespace fallow::detail
