#include "heap/object_lives.h"

#include <algorithm>

#include "heap/destruction_scope.h"
#include "heap/heap_core.h"
#include "heap/object_layout.h"
#include "platform/fatal.h"

namespace fallow::detail {

namespace {
/// Entries that a mutator takes from the pool at a time, and keeps at most.
constexpr std::size_t kEntriesTaken = 64;
constexpr std::size_t kMostKept = 256;
}  // namespace

constinit thread_local bool t_destroying = false;

void refuse_in_destructor() noexcept {
  if (!t_destroying) return;
  platform::fatal("the destructor of a managed object touches managed memory, which may be gone");
}

ObjectLives::ObjectLives(HeapCore& core)
    : core_(core), mutex_(platform::LockRank::kLives, "lives of objects"), pool_(mutex_) {}

ObjectLives::~ObjectLives() {
  // Where a full collection has not finished its order, entries stand in the place of headers.
  for (LifeEntry* entry = dead_.front(); entry != nullptr; entry = entry->next) {
    restore_header(entry->object);
  }
  if (phase_ == Phase::kDestroy) destructible_.splice(todo_);
  for (EntryChain* const chain : {&destructible_, &orphans_.destructible}) destroy_all(*chain);
  dead_bytes_.destroy_all();
  for (LifeEntry* entry = ordered_; entry != nullptr && phase_ == Phase::kDeliver;) {
    LifeEntry* const next = reinterpret_cast<LifeEntry*>(entry->header);
    todo_.push_back(entry);
    entry = next;
  }
  if (phase_ != Phase::kDeliver) todo_.splice(dead_);
  for (const auto& queue : queues_) todo_.splice(queue->chain());
  for (EntryChain* const chain :
       {&weak_, &finalizable_, &orphans_.weak, &orphans_.finalizable, &orphans_.free}) {
    todo_.splice(*chain);
  }
  pool_.give_back(todo_);
}

void ObjectLives::take_entries(EntryChain& chain) { pool_.take(chain, kEntriesTaken); }

void ObjectLives::recycle(EntryChain& free, LifeEntry* entry) noexcept {
  free.push_front(entry);
  if (free.size() <= kMostKept) return;
  EntryChain surplus;
  while (free.size() > kEntriesTaken) surplus.push_front(free.pop_front());
  pool_.give_back(surplus);
}

void ObjectLives::hand_over(YoungLives& lives) noexcept {
  pool_.give_back(lives.free);
  if (lives.empty()) return;
  const std::scoped_lock lock(mutex_);
  orphans_.absorb(lives);
  has_orphans_.store(true, std::memory_order_relaxed);
}

DeliveryQueue& ObjectLives::add_queue() {
  auto queue = std::make_shared<DeliveryQueue>();
  const std::scoped_lock lock(mutex_);
  queues_.push_back(std::move(queue));
  return *queues_.back();
}

void ObjectLives::close_queue(DeliveryQueue& queue) noexcept { queue.close(); }

void ObjectLives::wake_listeners() {
  if (!has_news_.exchange(false, std::memory_order_relaxed)) return;
  for (std::size_t i = 0;; ++i) {
    std::shared_ptr<DeliveryQueue> queue;
    {
      const std::scoped_lock lock(mutex_);
      if (i >= queues_.size()) return;
      queue = queues_[i];
    }
    queue->wake();
  }
}

bool ObjectLives::claim_dead(LifeEntry* entry) noexcept {
  const std::uintptr_t header = ObjectAccess::header(entry->object);
  const bool registered = (header & ObjectAccess::kFinalizerBit) != 0 &&
                          (header & ObjectAccess::kEntryBit) == 0 && !entry->queue->is_closed();
  if (!registered) {
    pool_.free(entry);
    return false;
  }
  entry->header = header & ~ObjectAccess::kFinalizerBit;
  ObjectAccess::set_header(entry->object,
                           reinterpret_cast<std::uintptr_t>(entry) | ObjectAccess::kEntryBit);
  return true;
}

bool ObjectLives::still_registered(LifeEntry* entry) noexcept {
  if (entry->queue->is_closed()) {
    ObjectAccess::clear_bits(entry->object, ObjectAccess::kFinalizerBit);
  }
  if ((ObjectAccess::header(entry->object) & ObjectAccess::kFinalizerBit) != 0) return true;
  pool_.free(entry);
  return false;
}

void ObjectLives::deliver(LifeEntry* entry) noexcept {
  entry->queue->push(entry);
  has_news_.store(true, std::memory_order_relaxed);
}

void ObjectLives::destroy(Object* object) noexcept {
  const TypeDescriptor& type = *ObjectAccess::descriptor(object);
  counts_.destructors.fetch_add(1, std::memory_order_relaxed);
  if (type.destruction == Destruction::kOnReclaimer && core_.destroys_aside() &&
      dead_bytes_.add(object, object_size(object, type), type)) {
    return;
  }
  run_destructor(type, object);
}

void ObjectLives::destroy_all(EntryChain& chain) noexcept {
  while (!chain.empty()) {
    LifeEntry* const entry = chain.pop_front();
    run_destructor(*ObjectAccess::descriptor(entry->object), entry->object);
    pool_.free(entry);
  }
}

}  // namespace fallow::detail
