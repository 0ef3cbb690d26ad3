#pragma once

#include <cstddef>
#include <cstdint>

#include "heap/address_space.h"
#include "heap/large_space.h"
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

  /// Roots, one kind after the other; then reach_all() and finish().
  void visit_slots(Object** begin, Object** end);
  void visit(Object** slot);
  void visit_remembered(const RememberedSet& set);
  /// Every old and large object as a root: when a remembered set could not hold everything.
  void visit_all_old_objects();
  /// Copies all that the roots reach. From now on it is known who survives, and those who do not
  /// are still intact.
  void reach_all();
  /// Decides about young large objects.
  Result finish();

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
  Result result_;
};

}  // namespace fallow::detail
