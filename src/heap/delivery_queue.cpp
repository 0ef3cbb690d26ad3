#include "heap/delivery_queue.h"

#include <utility>

namespace fallow::detail {

LifeEntry* DeliveryQueue::pop() noexcept {
  const std::scoped_lock lock(mutex_);
  if (chain_.empty()) return nullptr;
  LifeEntry* const entry = chain_.pop_front();
  if (entry == to_mark_) to_mark_ = chain_.front();
  pending_.store(chain_.size(), std::memory_order_relaxed);
  return entry;
}

void DeliveryQueue::push(LifeEntry* entry) noexcept {
  chain_.push_back(entry);
  pending_.store(chain_.size(), std::memory_order_relaxed);
  has_news_.store(true, std::memory_order_relaxed);
}

Object* DeliveryQueue::next_to_mark() noexcept {
  if (to_mark_ == nullptr) return nullptr;
  Object* const object = to_mark_->object;
  to_mark_ = to_mark_->next;
  return object;
}

void DeliveryQueue::set_listener(std::function<void()> listener) {
  const std::scoped_lock lock(mutex_);
  listener_ = std::move(listener);
}

void DeliveryQueue::wake() {
  if (!has_news_.exchange(false, std::memory_order_relaxed)) return;
  std::function<void()> listener;
  {
    const std::scoped_lock lock(mutex_);
    listener = listener_;
  }
  if (listener) listener();
}

}  // namespace fallow::detail
