#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "heap/dead_bytes.h"
#include "heap/delivery_queue.h"
#include "heap/life_entry.h"
#include "heap/young_lives.h"

namespace fallow::detail {

class HeapCore;
class MinorCollector;

/// A mutator takes an old object from where only the collector has looked after it: while the heap
/// marks, keeps it for this cycle.
void shade_read(Object* object) noexcept;

/// Objects with a life of their own in one heap: weak references, ephemerons, destructors and
/// finalizers, from their registration to their end.
///
/// After the copies of a minor collection, those registered since the last one are decided: dead
/// targets vanish, dead objects with finalizers are kept and delivered in order, dead objects with
/// destructors destroyed; the rest becomes old. After marking the old ones are decided likewise, in
/// slices between which mutators run: they can reach only what is marked, since a weak reference
/// whose target is not reads as null already. A heap without such objects pays a look at each
/// mutator's YoungLives.
class ObjectLives {
 public:
  explicit ObjectLives(HeapCore& core);
  /// Runs all destructors. The spaces still exist, nobody uses the heap.
  ~ObjectLives();
  ObjectLives(const ObjectLives&) = delete;
  ObjectLives& operator=(const ObjectLives&) = delete;

  // For mutators.
  /// Throws std::bad_alloc.
  void take_entries(EntryChain& chain);
  /// An entry that a queue has delivered.
  void recycle(EntryChain& free, LifeEntry* entry) noexcept;
  /// A mutator ends.
  void hand_over(YoungLives& lives) noexcept;
  /// Throws std::bad_alloc.
  DeliveryQueue& add_queue();
  void close_queue(DeliveryQueue& queue) noexcept;
  /// After a collection: calls the listeners of queues that were given something.
  void wake_listeners();

  // Minor collections (young_deaths.cpp).
  /// Before the copies: gathers what was registered. False when there is nothing.
  bool gather_young();
  [[nodiscard]] std::size_t new_ephemerons() const noexcept { return young_.ephemerons; }
  /// After complete().
  void settle_young(MinorCollector& minor);

  // Full collections (old_deaths.cpp).
  void begin_marking() noexcept;
  /// Shades up to so many objects that wait in queues; false when all are.
  bool shade_waiting(std::size_t count);
  /// Marking is over. False when there is nothing to do before the sweep.
  bool begin_finalizing() noexcept;
  /// About `count` entries or references further; false when the sweep may begin.
  bool finalize_some(std::size_t count);

  /// Destructors that wait for the reclaimer thread.
  DeadBytes& dead_bytes() noexcept { return dead_bytes_; }

  /// Calls visit(object, name) for what waits in queues. World stopped.
  template <class Visit>
  void for_each_waiting(Visit&& visit) {
    const std::scoped_lock lock(mutex_);
    for (const auto& queue : queues_) {
      if (queue->is_closed()) continue;
      for (LifeEntry* entry = queue->chain().front(); entry != nullptr; entry = entry->next) {
        visit(&entry->object);
      }
    }
  }
  /// Calls visit(chain, name) for each chain of registrations. World stopped.
  template <class Visit>
  void for_each_chain(Visit&& visit) const {
    visit(weak_);
    visit(destructible_);
    visit(finalizable_);
  }

  [[nodiscard]] std::size_t entry_bytes() const noexcept { return pool_.bytes(); }
  platform::RankedMutex& mutex() noexcept { return mutex_; }

  struct Counts {
    std::atomic<std::uint64_t> weak_cleared{0};
    std::atomic<std::uint64_t> finalizers{0};
    std::atomic<std::uint64_t> destructors{0};
    std::atomic<std::uint64_t> ephemerons_cleared{0};
  };
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  /// What is done after marking, in this order.
  enum class Phase : std::uint8_t {
    kIdle,
    kClearWeak,        ///< weak references to unmarked targets
    kClearEphemerons,  ///< marked ephemerons with unmarked keys
    kFindDead,         ///< unmarked objects with finalizers
    kOrder,            ///< marks them and all that they reach
    kDeliver,
    kForgetKeys,  ///< ephemerons found meanwhile, with keys that were not
    kPruneWeak,   ///< weak references that are dead themselves
    kDestroy
  };

  // young_deaths.cpp
  void settle_young_weak(MinorCollector& minor, EntryChain& rest);
  void promote_weak(MinorCollector& minor, EntryChain& rest);
  void deliver_young_dead(MinorCollector& minor);
  void settle_young_destructible(MinorCollector& minor);
  void clear_ephemerons(MinorCollector& minor);
  // old_deaths.cpp
  void enter(Phase phase) noexcept;
  void settle(LifeEntry* entry);
  bool order_next();
  void give_up_order();
  void clear_weak(LifeEntry* entry);
  void find_dead(LifeEntry* entry);
  void deliver_next();
  void prune_weak(LifeEntry* entry);
  void destroy_if_dead(LifeEntry* entry);
  void finish() noexcept;

  /// Writes the entry into the header of a dead object. False, and the entry is freed, if the
  /// object is not registered any more.
  bool claim_dead(LifeEntry* entry) noexcept;
  /// False, and the entry is freed, if the living object is not registered any more.
  bool still_registered(LifeEntry* entry) noexcept;
  /// Of a weak reference that stays: a closed queue ends with the next full collection.
  static void forget_closed_queue(LifeEntry* entry) noexcept {
    if (entry->queue != nullptr && entry->queue->is_closed()) entry->queue = nullptr;
  }
  void deliver(LifeEntry* entry) noexcept;
  void destroy(Object* object) noexcept;
  void destroy_all(EntryChain& chain) noexcept;

  HeapCore& core_;
  platform::RankedMutex mutex_;
  EntryPool pool_;
  std::vector<std::shared_ptr<DeliveryQueue>> queues_;  ///< under mutex_
  std::atomic<bool> has_news_{false};
  YoungLives orphans_;  ///< of mutators that ended; under mutex_
  std::atomic<bool> has_orphans_{false};

  // Only for the collector.
  YoungLives young_;
  EntryChain weak_;
  EntryChain destructible_;
  EntryChain finalizable_;
  std::size_t ephemerons_made_ = 0;  ///< since the last full collection began
  Phase phase_ = Phase::kIdle;
  EntryChain todo_;               ///< of the phase
  EntryChain dead_;               ///< headers are threaded
  LifeEntry* root_ = nullptr;     ///< in dead_: the next from which kOrder starts
  LifeEntry* ordered_ = nullptr;  ///< linked by LifeEntry::header
  std::size_t queue_to_shade_ = 0;
  DeadBytes dead_bytes_;
  Counts counts_;
};

}  // namespace fallow::detail
