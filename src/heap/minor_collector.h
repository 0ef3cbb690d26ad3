#pragma once

#include <cstddef>
#include <cstdint>

#include "heap/address_space.h"
#include "heap/ephemeron_table.h"
#include "heap/large_space.h"
#include "heap/life_entry.h"
#include "heap/object_layout.h"
#include "heap/old_space.h"
#include "heap/remembered_set.h"

namespace fallow::detail {

/// Copies what is alive in the nursery into the old space.
///
/// Survivors are copied depth first (parents next to their children). Slots of copies wait on a
/// stack whose worst case is reserved beforehand: one entry for each word of the nursery.
/// Cost: survivors, remembered slots and cards. Runs on one thread with all mutators stopped, so
/// headers need no atomic operations. Memory for the survivors was reserved when the nursery was
/// handed out.
class MinorCollector {
 public:
  struct Result {
    std::size_t copied_bytes = 0;      ///< cells of copied objects
    std::size_t large_bytes = 0;       ///< young large objects that became old
    std::size_t remembered_slots = 0;  ///< slots and cards looked at
  };

  /// Throws StartupError when the stack cannot be reserved.
  MinorCollector(const AddressSpace& space, OldSpace& old, LargeSpace& large,
                 std::size_t nursery_bytes);
  ~MinorCollector();
  MinorCollector(const MinorCollector&) = delete;
  MinorCollector& operator=(const MinorCollector&) = delete;

  /// Roots, one kind after the other; then complete() and finish().
  void visit_slots(Object** begin, Object** end);
  void visit(Object** slot);
  void visit_remembered(const RememberedSet& set);
  /// Every old and large object as a root: when a remembered set could not hold everything.
  void visit_all_old_objects();
  /// Copies all that the roots reach; the values of ephemerons with their keys.
  void complete();
  /// The same, and decides about young large objects.
  Result finish();

  // Objects with a life of their own, between complete() and finish().
  /// Whether the object was young and is dead, so far.
  [[nodiscard]] bool is_dead(const Object* object) const noexcept {
    if (in_nursery(object)) return !is_forwarded(object);
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(object) - base_;
    if (offset - nursery_span_ >= large_span_) return false;
    const LargeHeader* const header = LargeHeader::of(object);
    return header->is_young() && !header->reached;
  }
  /// Where the object is now: its copy, if it has been copied.
  [[nodiscard]] static Object* current(Object* object) noexcept {
    if (!in_nursery(object) || !is_forwarded(object)) return object;
    return reinterpret_cast<Object*>(ObjectAccess::header(object) & ~ObjectAccess::kForwardedBit);
  }
  /// Keeps dead objects with finalizers, whose headers are their entries, and all that they reach.
  /// Returns the entries, linked by LifeEntry::header, each before those of objects that its object
  /// reaches; their objects are the copies. (ordered_copy.cpp)
  LifeEntry* copy_in_order(const EntryChain& dead) noexcept;
  /// Ephemerons that were reached and whose keys are dead.
  EphemeronTable& ephemerons() noexcept { return ephemerons_; }
  /// The next collection will be number `epoch` of the heap and meet about so many new ephemerons.
  void begin(std::uint64_t epoch, std::size_t new_ephemerons) noexcept;

 private:
  /// A slot and the young object that it refers to: with the object at hand, its header is fetched
  /// before the slot's own store has gone through.
  struct Pending {
    Object** slot;
    Object* object;
  };

  /// Visits slot_at(i) for each i, in slices whose slots and objects the processor fetches side by
  /// side.
  template <class Iterator, class SlotAt>
  void visit_in_slices(Iterator begin, Iterator end, SlotAt slot_at);

  // These take and return the top of the stack, which loops keep in a register.
  /// Copies the object, unless that has happened, and pushes the slots of the copy; adds its size
  /// to `copied`.
  Pending* forward(const Pending& pending, Pending* top, std::size_t& copied);
  /// `slot` refers to `object`.
  Pending* push_if_young(Object** slot, Object* object, Pending* top);
  /// A copy of an object of whatever kind; leaves the top in top_.
  Object* copy_any(Object* object, const TypeDescriptor& type, Pending* top);
  Object* copy_to_cell(Object* object, std::size_t bytes, std::uint8_t size_class,
                       std::size_t& copied);
  /// Empties the stack.
  void copy_pending();
  void reach_large(Object* object);
  void scan_reached_large();
  /// The object itself, with its hash behind it if it has one.
  Object* copy_alone(Object* object, const TypeDescriptor& type);
  /// Values of ephemerons that waited for a key, which is `key` now; takes and returns the top.
  Pending* push_values_of(const Object* waited_for, Object* key, Pending* top);
  void settle_copied_ephemerons();

  [[nodiscard]] static bool is_forwarded(const Object* object) noexcept {
    return (ObjectAccess::header(object) & ObjectAccess::kForwardedBit) != 0;
  }

  // ordered_copy.cpp
  struct Visit {
    Object** slot;   ///< null: `object`, which was visited, is to be scanned from `item` on
    Object* object;  ///< null: the visit of the object of the entry `item` ends
    std::uintptr_t item;
  };
  void push_in_order(Object** slot, Object* object) noexcept;
  void visit_in_order(const Visit& visit) noexcept;
  void scan_in_order(Object* object, std::size_t first) noexcept;
  void settle_in_order(EphemeronBase* ephemeron) noexcept;
  void push_value_in_order(EphemeronBase* ephemeron) noexcept;
  void put_in_front(LifeEntry* entry) noexcept;
  void push_out_of_order(Object** slot, Object* object) noexcept;
  void scan(Object* object);
  static void reset_count(const CardEntry& entry) noexcept;
  void visit_card(const CardEntry& entry);

  OldSpace& old_;
  LargeSpace& large_;
  const std::uintptr_t base_;
  const std::uintptr_t nursery_span_;
  const std::uintptr_t large_span_;  ///< behind the nurseries
  Pending* stack_ = nullptr;
  std::size_t stack_bytes_;
  Pending* top_;
  PushBuffer<Object*> large_pending_;
  bool large_lost_ = false;  ///< no memory to note a reached large object: look at all of them
  std::uint64_t epoch_ = 0;
  EphemeronTable ephemerons_;
  EphemeronBase* copied_ephemerons_ = nullptr;
  PushBuffer<Visit> visits_;
  LifeEntry* ordered_ = nullptr;
  Result result_;
};

}  // namespace fallow::detail
