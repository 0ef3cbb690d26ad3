#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fallow/step.h"
#include "heap/address_space.h"
#include "heap/ephemeron_table.h"
#include "heap/large_space.h"
#include "heap/life_entry.h"
#include "heap/old_space.h"
#include "heap/push_buffer.h"

namespace fallow::detail {

/// One full collection as a state machine that works in bounded pieces:
///
///     kIdle --begin()--> kMarking --mark_some()…, finish_marking()--> kFinalizing
///     --begin_sweeping()--> kSweeping --sweep_some()…--> kIdle
///
/// Mutators may run between any two calls. Marking is snapshot-at-the-beginning: what was reachable
/// at begin() survives; the write barrier reports overwritten references (shade), objects promoted
/// meanwhile are born with the live colour. Nursery objects are never marked: they are promoted or
/// die in minor collections. No recursion; long arrays are marked in slices; when there is no
/// memory for the mark stack, marked objects are found again by walking the heap. All calls need
/// all mutators stopped, but for mark_beside() and those for write barriers.
class FullCycle {
 public:
  using State = CycleState;

  FullCycle(AddressSpace& space, OldSpace& old, LargeSpace& large);

  /// May be asked at any time, by barriers and statistics.
  [[nodiscard]] State state() const noexcept { return state_.load(std::memory_order_relaxed); }

  /// Starts a cycle, right after a minor collection. Finishes the sweep of the last one first.
  void begin();
  /// Marks an object that a root or an overwritten slot refers to. Null and young ones are ignored.
  void shade(Object* object);
  /// The same for many, later, in slices.
  void shade_later(Object* const* first, Object* const* last) noexcept;
  /// Objects that claim() has marked: accounts for them and scans them, in slices. Leaves `objects`
  /// empty.
  void scan_later(PushBuffer<Object*>& objects) noexcept;

  // For write barriers: safe beside other mutators, not beside the collector.
  /// Marks an object of the old space or a large one; false when that has happened already, or is
  /// not needed. Who gets true sees to it that the object is scanned.
  [[nodiscard]] bool claim(Object* object) noexcept;
  static void prefetch_mark(Object* object) noexcept {
    // Of a large object this fetches something else, which does no harm.
    __builtin_prefetch(mark_byte(object), 1);
  }
  /// There is no memory to note that a claimed object is to be scanned: a walk will find it.
  void claimed_object_lost() noexcept { stack_lost_.store(true, std::memory_order_relaxed); }
  /// The two in one.
  void shade_without_memory(Object* object) noexcept {
    if (claim(object)) claimed_object_lost();
  }
  /// Scans about `references` references; false when nothing is left to scan.
  bool mark_some(std::size_t references);
  /// The same on a marker thread, beside mutators that run; only one such call at a time, and none
  /// beside any call that needs the mutators stopped. Also false when the rest is not for it.
  bool mark_beside(std::size_t references);
  /// Everything reachable is marked: the rest is dead from now on, but for what finalizers keep.
  void finish_marking();

  // Between finish_marking() and begin_sweeping(), for ObjectLives.
  /// Whether the object is not known to be dead.
  [[nodiscard]] bool is_live(const Object* object) const noexcept;
  /// Ephemerons that were marked and whose keys were not.
  EphemeronTable& ephemerons() noexcept { return ephemerons_; }
  /// Ephemerons that this cycle, or the last, has come by.
  [[nodiscard]] std::size_t ephemerons_seen() const noexcept { return ephemerons_seen_; }
  /// Weak references are cleared: barriers are not needed any more.
  void end_snapshot() noexcept;
  /// Begins to mark what a dead object with a finalizer reaches (ordered_mark.cpp).
  void order_from(Object* object) noexcept;
  /// Goes on; false when there is nothing left of it.
  bool order_some() noexcept;
  /// There was no memory for the search: the rest waits to be marked in the ordinary way.
  [[nodiscard]] bool order_is_lost() const noexcept { return stack_lost_ || !stack_.empty(); }
  /// Its object is marked, or will be.
  void put_in_front(LifeEntry* entry) noexcept;
  /// The entries of the objects marked so, linked by LifeEntry::header, each before those of
  /// objects that its object reaches.
  LifeEntry* take_ordered() noexcept;
  /// Bytes of cells and large objects that were marked so.
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }

  /// What is not marked may be freed.
  void begin_sweeping();
  /// Frees dead objects: about `blocks` blocks and as many large objects; false when done.
  bool sweep_some(std::size_t blocks);

  /// Bytes of cells marked by this cycle, large objects excluded.
  [[nodiscard]] std::size_t marked_bytes() const noexcept { return marked_bytes_; }
  /// Spans of old large objects marked by this cycle.
  [[nodiscard]] std::size_t marked_large_bytes() const noexcept { return marked_large_bytes_; }
  /// Objects and values that wait to be looked at.
  [[nodiscard]] std::size_t pending() const noexcept {
    return stack_.size() + shade_later_.size() + scan_later_.size();
  }
  /// Progress of marking, in bytes: of cells marked and of items of large objects scanned.
  [[nodiscard]] std::size_t marking_done() const noexcept { return marked_bytes_ + scanned_items_; }

 private:
  /// Whether mutators run meanwhile, whose barriers mark objects too.
  enum class Mutators : std::uint8_t { kStopped, kRunning };

  /// A pending object, or the rest of a long one from item `first` on.
  struct Pending {
    Object* object;
    std::size_t first;
  };

  template <Mutators Are>
  bool mark(std::size_t references);
  template <Mutators Are>
  void shade_from(Object* object);
  /// Books of an object that has just been marked; pushes it.
  void account_and_push(Object* object);
  void push(Object* object, std::size_t first);
  template <Mutators Are>
  std::size_t scan(const Pending& pending);
  /// A marked ephemeron, or the key of one.
  template <Mutators Are>
  void scan_ephemeral(Object* object, const TypeDescriptor& type);
  template <Mutators Are>
  void shade_value(EphemeronBase* ephemeron);
  /// The key is marked, or need not be; else the ephemeron waits in the table.
  bool settle(EphemeronBase* ephemeron) noexcept;

  // ordered_mark.cpp
  /// An object to visit; or, visited, to be scanned from `item` on; or the end of an entry's visit.
  struct OrderedVisit {
    enum class What : std::uint8_t { kVisit, kScan, kEnd } what;
    Object* object;
    std::uintptr_t item;
  };
  void push_in_order(Object* object) noexcept;
  void visit_in_order(Object* object) noexcept;
  void scan_in_order(Object* object, std::size_t first) noexcept;

  /// After entries were lost: visits the references of all marked objects again. Each pass marks at
  /// least the children that the pass before dropped, so passes end.
  void rescan();

  OldSpace& old_;
  LargeSpace& large_;
  AddressSpace& space_;
  std::atomic<State> state_{State::kIdle};
  PushBuffer<Pending> stack_;
  PushBuffer<Object*> shade_later_;
  PushBuffer<Object*> scan_later_;
  std::atomic<bool> stack_lost_{false};  ///< an object is marked but was not pushed
  std::size_t marked_bytes_ = 0;
  std::size_t marked_large_bytes_ = 0;
  std::size_t scanned_items_ = 0;  ///< bytes
  EphemeronTable ephemerons_;
  std::size_t ephemerons_seen_ = 0;
  bool snapshot_ended_ = true;
  PushBuffer<OrderedVisit> visits_;
  LifeEntry* ordered_ = nullptr;
  std::size_t kept_bytes_ = 0;
};

}  // namespace fallow::detail
