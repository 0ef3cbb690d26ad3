// How the program's threads register objects with a life of their own, and read them.
#include <new>

#include "fallow/ephemeron.h"
#include "fallow/errors.h"
#include "fallow/finalizer.h"
#include "fallow/heap.h"
#include "fallow/pin.h"
#include "fallow/weak.h"
#include "heap/heap_core.h"

namespace fallow::detail {

namespace {

LifeEntry* next_entry(MutatorState& state, Object* object, DeliveryQueue* queue) noexcept {
  LifeEntry* const entry = state.young.free.pop_front();
  entry->object = object;
  entry->queue = queue;
  return entry;
}

}  // namespace

void prepare_entry(Mutator& mutator) {
  MutatorState& state = MutatorAccess::state(mutator);
  if (state.young.free.empty()) state.core->lives().take_entries(state.young.free);
}

void register_destructible(Mutator& mutator, Object* object) noexcept {
  MutatorState& state = MutatorAccess::state(mutator);
  state.young.destructible.push_back(next_entry(state, object, nullptr));
}

void register_weak(Mutator& mutator, Object* weak, DeliveryQueue* queue) noexcept {
  MutatorState& state = MutatorAccess::state(mutator);
  state.young.weak.push_back(next_entry(state, weak, queue));
}

bool register_finalizer(Mutator& mutator, Object* object, DeliveryQueue& queue) {
  if constexpr (kChecked) check_mutator_use(mutator, "FinalizerQueue::add");
  prepare_entry(mutator);
  const std::uintptr_t before = ObjectAccess::set_bits(object, ObjectAccess::kFinalizerBit);
  if ((before & ObjectAccess::kFinalizerBit) != 0) return false;
  MutatorState& state = MutatorAccess::state(mutator);
  state.young.finalizable.push_back(next_entry(state, object, &queue));
  return true;
}

bool unregister_finalizer(Object* object) noexcept {
  const std::uintptr_t before = ObjectAccess::clear_bits(object, ObjectAccess::kFinalizerBit);
  return (before & ObjectAccess::kFinalizerBit) != 0;
}

void promote_young(Mutator& mutator) {
  if constexpr (kChecked) check_mutator_use(mutator, "Pin");
  MutatorAccess::core(mutator).collect_now(HeapCore::Kind::kMinor);
}

void note_ephemeron(Mutator& mutator, Object* key) noexcept {
  if (key != nullptr) ObjectAccess::set_bits(key, ObjectAccess::kEphemeronKeyBit);
  ++MutatorAccess::state(mutator).young.ephemerons;
}

Deliveries::Deliveries(Heap& heap)
    : core_(HeapAccess::core(heap)), queue_(core_.lives().add_queue()) {}

Deliveries::~Deliveries() {
  queue_.set_listener({});
  core_.lives().close_queue(queue_);
}

std::size_t Deliveries::pending() const noexcept { return queue_.pending(); }

void Deliveries::on_pending(std::function<void()> listener) {
  queue_.set_listener(std::move(listener));
}

Object* Deliveries::take(Mutator& mutator) noexcept {
  if constexpr (kChecked) check_mutator_use(mutator, "next");
  if (queue_.pending() == 0) return nullptr;
  LifeEntry* const entry = queue_.pop();
  if (entry == nullptr) return nullptr;
  Object* const object = entry->object;
  MutatorState& state = MutatorAccess::state(mutator);
  core_.lives().recycle(state.young.free, entry);
  // It was a root, and the queue is one no longer.
  shade_read(object);
  return object;
}

}  // namespace fallow::detail
