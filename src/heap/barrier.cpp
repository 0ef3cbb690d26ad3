#include "fallow/detail/barrier.h"

#include <limits>

#include "fallow/array.h"
#include "heap/heap_core.h"

namespace fallow::detail {

namespace {

bool some_heap_marks() noexcept {
  return g_barrier_range.record_span.load(std::memory_order_relaxed) ==
         std::numeric_limits<std::uintptr_t>::max();
}

HeapCore* heap_of(const Object* object) noexcept {
  AddressSpace& space = AddressSpace::instance();
  if (in_nursery(object)) return space.nursery_owner(object);
  return space.is_large(object) ? LargeHeader::of(object)->heap : Chunk::of(object)->heap;
}

/// The calling thread's running mutator in the heap of `object`; nullptr if it has none. What a
/// parked one has recorded may be read by a collector at this moment.
MutatorState* mutator_for(const Object* object) noexcept {
  MutatorState* const first = first_mutator_of_thread();
  if (first == nullptr) return nullptr;
  const bool only_one = first->next_on_thread == nullptr && HeapCore::only_one_exists();
  MutatorState* const state = only_one ? first : mutator_of_thread(heap_of(object));
  const bool runs = state != nullptr && state->status == MutatorState::Status::kRunning;
  return runs ? state : nullptr;
}

bool is_young(const Object* object) noexcept {
  if (object == nullptr) return false;
  if (in_nursery(object)) return true;
  return AddressSpace::instance().is_large(object) && LargeHeader::of(object)->is_young();
}

void shade_if_marking(Object* overwritten) noexcept {
  // Young objects are not part of the snapshot, and may be gone when the collector would look.
  if (!some_heap_marks() || overwritten == nullptr || is_young(overwritten)) return;
  MutatorState* const state = mutator_for(overwritten);
  HeapCore* const core = state != nullptr ? state->core : heap_of(overwritten);
  FullCycle& cycle = core->full_cycle();
  if (cycle.state() != FullCycle::State::kMarking) return;
  if (state != nullptr) {
    state->overwritten.add(overwritten, cycle);
    return;
  }
  core->with_orphans([&](RememberedSet&, SnapshotLog& log) { log.add(overwritten, cycle); });
}

/// Calls use(set) with the remembered set to which a slot holding `value` goes.
template <class Use>
void with_remembered_set(const Object* value, Use&& use) noexcept {
  MutatorState* const state = mutator_for(value);
  if (state != nullptr) {
    use(state->remembered);
    return;
  }
  heap_of(value)->with_orphans([&](RememberedSet& set, SnapshotLog&) { use(set); });
}

/// Items of an array: slots one by one in a short one, cards that fill up in a long one.
void remember_item(Object* array, std::size_t length, Slot* items, std::size_t index,
                   const Object* value) noexcept {
  with_remembered_set(value, [&](RememberedSet& set) {
    if (card_count(length) == 0) {
      set.add_slot(&items[index]);
    } else {
      set.add_item({array, index / kCardItems}, length, &items[index]);
    }
  });
}

}  // namespace

void record_store(Slot* slot, Object* overwritten, Object* value) noexcept {
  shade_if_marking(overwritten);
  // A young overwritten value means that the slot is in the set already.
  if (in_nursery(overwritten) || !is_young(value)) return;
  with_remembered_set(value, [&](RememberedSet& set) { set.add_slot(slot); });
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
