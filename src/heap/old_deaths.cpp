// What a full collection decides about objects with a life of their own, after marking.
#include <algorithm>
#include <mutex>
#include <utility>

#include "heap/heap_core.h"

namespace fallow::detail {

void ObjectLives::begin_marking() noexcept {
  queue_to_shade_ = 0;
  const std::scoped_lock lock(mutex_);
  for (const auto& queue : queues_) {
    queue->begin_marking();
    queue->closed_before_cycle = queue->is_closed();
  }
  core_.full_cycle().ephemerons().expect(std::exchange(ephemerons_made_, 0) +
                                         core_.full_cycle().ephemerons_seen());
}

bool ObjectLives::shade_waiting(std::size_t count) {
  bool shaded = false;
  const std::scoped_lock lock(mutex_);
  for (; count != 0 && queue_to_shade_ < queues_.size(); --count) {
    DeliveryQueue& queue = *queues_[queue_to_shade_];
    Object* const object = queue.is_closed() ? nullptr : queue.next_to_mark();
    if (object == nullptr) {
      ++queue_to_shade_;
    } else {
      core_.full_cycle().shade(object);
    }
    shaded = true;
  }
  return shaded;
}

bool ObjectLives::begin_finalizing() noexcept {
  const std::scoped_lock lock(mutex_);
  const bool idle = weak_.empty() && destructible_.empty() && finalizable_.empty() &&
                    core_.full_cycle().ephemerons().empty() && queues_.empty();
  if (!idle) enter(Phase::kClearWeak);
  return !idle;
}

void ObjectLives::enter(Phase phase) noexcept {
  phase_ = phase;
  switch (phase) {
    case Phase::kClearWeak:
    case Phase::kPruneWeak:
      todo_.splice(weak_);
      break;
    case Phase::kFindDead:
      // From here on no weak reference or ephemeron leads to what is not marked.
      core_.full_cycle().end_snapshot();
      todo_.splice(finalizable_);
      break;
    case Phase::kOrder:
      root_ = dead_.front();
      counts_.finalizers.fetch_add(dead_.size(), std::memory_order_relaxed);
      break;
    case Phase::kDeliver:
      dead_ = EntryChain();
      ordered_ = core_.full_cycle().take_ordered();
      break;
    case Phase::kDestroy:
      todo_.splice(destructible_);
      break;
    default:
      break;
  }
}

bool ObjectLives::finalize_some(std::size_t count) {
  FullCycle& full = core_.full_cycle();
  while (count != 0 && phase_ != Phase::kIdle) {
    --count;
    bool more = true;
    switch (phase_) {
      case Phase::kClearEphemerons:
      case Phase::kForgetKeys:
        if (EphemeronBase* const ephemeron = full.ephemerons().take_any()) {
          EphemeronAccess::clear(ephemeron);
          counts_.ephemerons_cleared.fetch_add(1, std::memory_order_relaxed);
        } else {
          more = false;
        }
        break;
      case Phase::kOrder:
        more = order_next();
        break;
      case Phase::kDeliver:
        more = ordered_ != nullptr;
        if (more) deliver_next();
        break;
      default:
        more = !todo_.empty();
        if (more) settle(todo_.pop_front());
    }
    if (more) continue;
    if (phase_ == Phase::kDestroy) {
      finish();
    } else {
      enter(static_cast<Phase>(static_cast<int>(phase_) + 1));
    }
  }
  return phase_ != Phase::kIdle;
}

bool ObjectLives::order_next() {
  FullCycle& full = core_.full_cycle();
  if (full.order_is_lost()) give_up_order();
  if (full.order_some()) return true;
  if (root_ == nullptr) return false;
  full.order_from(std::exchange(root_, root_->next)->object);
  return true;
}

void ObjectLives::give_up_order() {
  // What was not visited yet is marked by walks that read headers, so those must be whole.
  for (; root_ != nullptr; root_ = root_->next) core_.full_cycle().shade(root_->object);
  for (LifeEntry* entry = dead_.front(); entry != nullptr; entry = entry->next) {
    if (restore_header(entry->object) != nullptr) core_.full_cycle().put_in_front(entry);
  }
}

void ObjectLives::settle(LifeEntry* entry) {
  switch (phase_) {
    case Phase::kClearWeak:
      return clear_weak(entry);
    case Phase::kFindDead:
      return find_dead(entry);
    case Phase::kPruneWeak:
      return prune_weak(entry);
    default:
      return destroy_if_dead(entry);
  }
}

void ObjectLives::clear_weak(LifeEntry* entry) {
  const FullCycle& full = core_.full_cycle();
  Object** const target = word_at(entry->object, kWeakTargetOffset);
  if (*target == nullptr) {
    pool_.free(entry);
  } else if (full.is_live(*target)) {
    forget_closed_queue(entry);
    weak_.push_back(entry);
  } else {
    reinterpret_cast<Slot*>(target)->store(nullptr, std::memory_order_relaxed);
    counts_.weak_cleared.fetch_add(1, std::memory_order_relaxed);
    const bool delivers =
        entry->queue != nullptr && !entry->queue->is_closed() && full.is_live(entry->object);
    delivers ? deliver(entry) : pool_.free(entry);
  }
}

void ObjectLives::find_dead(LifeEntry* entry) {
  if (!core_.full_cycle().is_live(entry->object)) {
    if (claim_dead(entry)) dead_.push_back(entry);
  } else if (still_registered(entry)) {
    finalizable_.push_back(entry);
  }
}

void ObjectLives::deliver_next() {
  LifeEntry* const entry = ordered_;
  ordered_ = reinterpret_cast<LifeEntry*>(entry->header);
  deliver(entry);
}

void ObjectLives::prune_weak(LifeEntry* entry) {
  if (core_.full_cycle().is_live(entry->object)) {
    weak_.push_back(entry);
  } else {
    pool_.free(entry);
  }
}

void ObjectLives::destroy_if_dead(LifeEntry* entry) {
  if (core_.full_cycle().is_live(entry->object)) {
    destructible_.push_back(entry);
  } else {
    destroy(entry->object);
    pool_.free(entry);
  }
}

void ObjectLives::finish() noexcept {
  phase_ = Phase::kIdle;
  const std::scoped_lock lock(mutex_);
  // No entry refers to those any more, but what they hold themselves.
  std::erase_if(queues_, [this](const std::shared_ptr<DeliveryQueue>& queue) {
    if (!queue->closed_before_cycle) return false;
    while (!queue->chain().empty()) pool_.free(queue->chain().pop_front());
    return true;
  });
}

}  // namespace fallow::detail
