#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heap/address_space.h"
#include "heap/large_space.h"
#include "heap/old_space.h"
#include "heap/push_buffer.h"

namespace fallow::detail {

/// One full collection as a state machine that works in bounded pieces:
///
///     kIdle --begin()--> kMarking --mark_some()…, finish_marking()--> kSweeping --sweep_some()…-->
///     kIdle
///
/// Mutators may run between any two calls. Marking is snapshot-at-the-beginning: what was reachable
/// at begin() survives; the write barrier reports overwritten references (shade), objects promoted
/// meanwhile are born with the live colour. Nursery objects are never marked: they are promoted or
/// die in minor collections. No recursion; long arrays are marked in slices; when there is no
/// memory for the mark stack, marked objects are found again by walking the heap. All calls need
/// all mutators stopped.
class FullCycle {
 public:
  enum class State : std::uint8_t { kIdle, kMarking, kSweeping };

  FullCycle(AddressSpace& space, OldSpace& old, LargeSpace& large);

  /// May be asked at any time, by barriers.
  [[nodiscard]] State state() const noexcept { return state_.load(std::memory_order_relaxed); }

  /// Starts a cycle, right after a minor collection. Finishes the sweep of the last one first.
  void begin();
  /// Marks an object that a root or an overwritten slot refers to. Null and young ones are ignored.
  void shade(Object* object);
  /// The same from a write barrier that has no memory to note the object for later: marks it and
  /// lets a walk over the heap find it. Safe beside other mutators; not beside the collector.
  void shade_without_memory(Object* object) noexcept;
  /// Scans about `references` references; false when nothing is left to scan.
  bool mark_some(std::size_t references);
  /// Everything reachable is marked: the rest is dead from now on.
  void finish_marking();
  /// Frees dead objects: about `blocks` blocks and as many large objects; false when done.
  bool sweep_some(std::size_t blocks);

  /// Bytes of cells marked by this cycle, large objects excluded.
  [[nodiscard]] std::size_t marked_bytes() const noexcept { return marked_bytes_; }
  /// Objects that wait to be scanned.
  [[nodiscard]] std::size_t pending() const noexcept { return stack_.size(); }
  /// Objects marked by this cycle.
  [[nodiscard]] std::size_t marked_objects() const noexcept { return marked_objects_; }

 private:
  /// A pending object, or the rest of a long one from item `first` on.
  struct Pending {
    Object* object;
    std::size_t first;
  };

  void push(Object* object, std::size_t first);
  std::size_t scan(const Pending& pending);
  /// After entries were lost: visits the references of all marked objects again. Each pass marks at
  /// least the children that the pass before dropped, so passes end.
  void rescan();

  OldSpace& old_;
  LargeSpace& large_;
  AddressSpace& space_;
  std::atomic<State> state_{State::kIdle};
  PushBuffer<Pending> stack_;
  std::atomic<bool> stack_lost_{false};  ///< an object is marked but was not pushed
  std::size_t marked_bytes_ = 0;
  std::size_t marked_objects_ = 0;
};

}  // namespace fallow::detail
