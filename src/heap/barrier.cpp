#include "fallow/detail/barrier.h"

#include <limits>

#include "fallow/array.h"
#include "fallow/ephemeron.h"
#include "heap/heap_core.h"

namespace fallow::detail {

namespace {

[[gnu::always_inline]] inline bool some_heap_marks() noexcept {
  return g_barrier_range.record_span.load(std::memory_order_relaxed) ==
         std::numeric_limits<std::uintptr_t>::max();
}

HeapCore* heap_of(const Object* object) noexcept {
  AddressSpace& space = AddressSpace::instance();
  if (in_nursery(object)) return space.nursery_owner(object);
  return space.is_large(object) ? LargeHeader::of(object)->heap : Chunk::of(object)->heap;
}

/// The calling thread's running mutator if it is the one for whatever object the thread may hold;
/// nullptr when it takes a closer look to find out.
[[gnu::always_inline]] inline MutatorState* only_mutator() noexcept {
  MutatorState* const first = first_mutator_of_thread();
  if (first == nullptr || first->next_on_thread != nullptr) return nullptr;
  if (!HeapCore::only_one_exists()) return nullptr;
  return first->status == MutatorState::Status::kRunning ? first : nullptr;
}

/// The calling thread's running mutator in a heap; nullptr if it has none. What a parked one has
/// recorded may be read by a collector at this moment.
MutatorState* mutator_in(const HeapCore* core) noexcept {
  MutatorState* const state = mutator_of_thread(core);
  const bool runs = state != nullptr && state->status == MutatorState::Status::kRunning;
  return runs ? state : nullptr;
}

[[gnu::always_inline]] inline bool is_young(const Object* object) noexcept {
  if (object == nullptr) return false;
  if (in_nursery(object)) return true;
  return AddressSpace::instance().is_large(object) && LargeHeader::of(object)->is_young();
}

/// Calls use(set, log) with those into which a thread notes what it has done with `object`.
template <class Use>
void with_notes(Object* object, Use use) noexcept {
  HeapCore* const core = heap_of(object);
  MutatorState* const state = mutator_in(core);
  if (state != nullptr) return use(state->remembered, state->overwritten);
  core->with_orphans(use);
}

void note_overwritten(Object* overwritten, FullCycle& cycle, SnapshotLog& log) noexcept {
  if (cycle.state() == FullCycle::State::kMarking) log.add(overwritten, cycle);
}

/// While some heap marks. Young objects are not part of the snapshot, and may be gone when the
/// collector would look.
[[gnu::noinline]] void shade_overwritten(Object* overwritten) noexcept {
  if (overwritten == nullptr || is_young(overwritten)) return;
  MutatorState* const state = only_mutator();
  if (state != nullptr) [[likely]]
    return note_overwritten(overwritten, state->core->full_cycle(), state->overwritten);
  with_notes(overwritten, [overwritten](RememberedSet&, SnapshotLog& log) {
    note_overwritten(overwritten, heap_of(overwritten)->full_cycle(), log);
  });
}

[[gnu::always_inline]] inline void shade_if_marking(Object* overwritten) noexcept {
  if (some_heap_marks()) shade_overwritten(overwritten);
}

/// Slots one by one in a short array, cards that fill up in a long one.
[[gnu::always_inline]] inline void note_item(RememberedSet& set, Object* array, std::size_t length,
                                             Slot* items, std::size_t index) noexcept {
  if (card_count(length) == 0) {
    set.add_slot(&items[index]);
  } else {
    set.add_item({array, index / kCardItems}, length, &items[index]);
  }
}

[[gnu::always_inline]] inline void remember_item(Object* array, std::size_t length, Slot* items,
                                                 std::size_t index, Object* value) noexcept {
  MutatorState* const state = only_mutator();
  if (state != nullptr) [[likely]]
    return note_item(state->remembered, array, length, items, index);
  with_notes(value, [=](RememberedSet& set, SnapshotLog&) {
    note_item(set, array, length, items, index);
  });
}

/// Of an object that may be read although nothing that was marked leads to it: null when it is
/// dead.
Object* keep_or_refuse(Object* object) noexcept {
  if (is_young(object)) return object;
  const FullCycle& cycle = heap_of(object)->full_cycle();
  if (cycle.state() == FullCycle::State::kFinalizing) {
    return cycle.is_live(object) ? object : nullptr;
  }
  shade_overwritten(object);
  return object;
}

}  // namespace

void shade_read(Object* object) noexcept { shade_if_marking(object); }

Object* read_weak(Object* target) noexcept { return keep_or_refuse(target); }

KeyAndValue read_ephemeron(const EphemeronBase* ephemeron) noexcept {
  Object* const key = EphemeronAccess::key(ephemeron);
  Object* const value = EphemeronAccess::value(ephemeron);
  if (key == nullptr || !some_heap_marks()) return {key, value};
  if (keep_or_refuse(key) == nullptr) return {nullptr, nullptr};
  shade_overwritten(value);
  return {key, value};
}

void record_store(Slot* slot, Object* overwritten, Object* value) noexcept {
  shade_if_marking(overwritten);
  // A young overwritten value means that the slot is in the set already.
  if (in_nursery(overwritten) || !is_young(value)) return;
  MutatorState* const state = only_mutator();
  if (state != nullptr) [[likely]]
    return state->remembered.add_slot(slot);
  with_notes(value, [slot](RememberedSet& set, SnapshotLog&) { set.add_slot(slot); });
}

void ReferenceArray::record_array_store(std::size_t index, Object* overwritten,
                                        Object* value) noexcept {
  shade_if_marking(overwritten);
  if (in_nursery(overwritten) || !is_young(value)) return;
  remember_item(this, length(), items(), index, value);
}

void ReferenceArray::copy_items(std::size_t to, const ReferenceArray& source, std::size_t from,
                                std::size_t count) noexcept {
  Slot* const target = items() + to;
  const Slot* const origin = source.items() + from;
  const bool young = in_nursery(this);
  if (!young && some_heap_marks()) {
    for (std::size_t i = 0; i < count; ++i) {
      shade_if_marking(target[i].load(std::memory_order_relaxed));
    }
  }
  const auto copy_one = [&](std::size_t i) {
    target[i].store(origin[i].load(std::memory_order_relaxed), std::memory_order_release);
  };
  if (target <= origin) {
    for (std::size_t i = 0; i < count; ++i) copy_one(i);
  } else {
    for (std::size_t i = count; i-- > 0;) copy_one(i);
  }
  if (young) return;
  for (std::size_t i = 0; i < count; ++i) {
    Object* const value = target[i].load(std::memory_order_relaxed);
    if (is_young(value)) remember_item(this, length(), items(), to + i, value);
  }
}

void ReferenceArray::fill_items(std::size_t first, std::size_t count, Object* value) noexcept {
  Slot* const target = items() + first;
  const bool young = in_nursery(this);
  if (!young && some_heap_marks()) {
    for (std::size_t i = 0; i < count; ++i) {
      shade_if_marking(target[i].load(std::memory_order_relaxed));
    }
  }
  for (std::size_t i = 0; i < count; ++i) target[i].store(value, std::memory_order_release);
  if (young || !is_young(value)) return;
  for (std::size_t i = 0; i < count; ++i) remember_item(this, length(), items(), first + i, value);
}

}  // namespace fallow::detail
