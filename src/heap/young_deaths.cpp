// What a minor collection decides about objects with a life of their own.
#include <mutex>

#include "heap/heap_core.h"

namespace fallow::detail {

namespace {
Object** target_slot(Object* weak) noexcept { return word_at(weak, kWeakTargetOffset); }
}  // namespace

bool ObjectLives::gather_young() {
  bool any = false;
  for (MutatorState* const state : core_.world().mutators()) {
    if (state->young.empty()) continue;
    any = true;
    young_.absorb(state->young);
  }
  if (has_orphans_.load(std::memory_order_relaxed)) {
    const std::scoped_lock lock(mutex_);
    young_.absorb(orphans_);
    has_orphans_.store(false, std::memory_order_relaxed);
    any = true;
  }
  return any;
}

void ObjectLives::settle_young(MinorCollector& minor) {
  ephemerons_made_ += young_.ephemerons;
  young_.ephemerons = 0;
  EntryChain rest;
  settle_young_weak(minor, rest);
  clear_ephemerons(minor);
  deliver_young_dead(minor);
  clear_ephemerons(minor);
  promote_weak(minor, rest);
  settle_young_destructible(minor);
}

void ObjectLives::settle_young_weak(MinorCollector& minor, EntryChain& rest) {
  while (!young_.weak.empty()) {
    LifeEntry* const entry = young_.weak.pop_front();
    // A dead one may yet be kept for a finalizer; its bytes are still there.
    Object* const weak = minor.current(entry->object);
    Object** const target = target_slot(weak);
    if (*target == nullptr) {
      pool_.free(entry);
    } else if (!minor.is_dead(*target)) {
      *target = minor.current(*target);
      rest.push_back(entry);
    } else {
      *target = nullptr;
      counts_.weak_cleared.fetch_add(1, std::memory_order_relaxed);
      const bool delivers =
          entry->queue != nullptr && !entry->queue->is_closed() && !minor.is_dead(weak);
      entry->object = weak;
      delivers ? deliver(entry) : pool_.free(entry);
    }
  }
}

void ObjectLives::promote_weak(MinorCollector& minor, EntryChain& rest) {
  while (!rest.empty()) {
    LifeEntry* const entry = rest.pop_front();
    if (minor.is_dead(entry->object)) {
      pool_.free(entry);
      continue;
    }
    entry->object = minor.current(entry->object);
    forget_closed_queue(entry);
    weak_.push_back(entry);
  }
}

void ObjectLives::clear_ephemerons(MinorCollector& minor) {
  while (EphemeronBase* const ephemeron = minor.ephemerons().take_any()) {
    EphemeronAccess::clear(ephemeron);
    counts_.ephemerons_cleared.fetch_add(1, std::memory_order_relaxed);
  }
}

void ObjectLives::deliver_young_dead(MinorCollector& minor) {
  EntryChain dead;
  while (!young_.finalizable.empty()) {
    LifeEntry* const entry = young_.finalizable.pop_front();
    if (minor.is_dead(entry->object)) {
      if (claim_dead(entry)) dead.push_back(entry);
      continue;
    }
    entry->object = minor.current(entry->object);
    if (still_registered(entry)) finalizable_.push_back(entry);
  }
  if (dead.empty()) return;
  for (LifeEntry* entry = minor.copy_in_order(dead); entry != nullptr;) {
    auto* const next = reinterpret_cast<LifeEntry*>(entry->header);
    deliver(entry);
    entry = next;
  }
  counts_.finalizers.fetch_add(dead.size(), std::memory_order_relaxed);
}

void ObjectLives::settle_young_destructible(MinorCollector& minor) {
  while (!young_.destructible.empty()) {
    LifeEntry* const entry = young_.destructible.pop_front();
    if (minor.is_dead(entry->object)) {
      destroy(entry->object);
      pool_.free(entry);
      continue;
    }
    entry->object = minor.current(entry->object);
    destructible_.push_back(entry);
  }
}

}  // namespace fallow::detail
