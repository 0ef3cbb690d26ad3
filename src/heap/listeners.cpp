#include "heap/listeners.h"

#include <mutex>

namespace fallow::detail {

namespace {
struct Telling {
  EventListener& listener;
  void operator()(const MinorEvent& event) const { listener.on_minor(event); }
  void operator()(const StepEvent& event) const { listener.on_step(event); }
  void operator()(const FullEvent& event) const { listener.on_full(event); }
};
}  // namespace

Listeners::Listeners()
    : mutex_(platform::LockRank::kListeners, "listeners"),
      events_mutex_(platform::LockRank::kEvents, "events") {}

void Listeners::add(EventListener& listener) {
  const std::scoped_lock lock(mutex_);
  listeners_.push_back(&listener);
  count_.store(listeners_.size(), std::memory_order_relaxed);
}

void Listeners::remove(EventListener& listener) {
  const std::scoped_lock lock(mutex_);
  std::erase(listeners_, &listener);
  count_.store(listeners_.size(), std::memory_order_relaxed);
}

void Listeners::note(const CollectionEvent& event) noexcept {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  const std::scoped_lock lock(events_mutex_);
  static_cast<void>(events_.push(event));
}

void Listeners::deliver() {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  const std::scoped_lock lock(mutex_);
  for (CollectionEvent event; next(event);) {
    for (EventListener* const listener : listeners_) std::visit(Telling{*listener}, event);
  }
}

bool Listeners::next(CollectionEvent& event) noexcept {
  const std::scoped_lock lock(events_mutex_);
  if (delivered_ == events_.size()) {
    events_.clear();
    delivered_ = 0;
    return false;
  }
  event = events_[delivered_++];
  return true;
}

void Listeners::tell(const StuckMutatorEvent& event) {
  const std::scoped_lock lock(mutex_);
  for (EventListener* const listener : listeners_) listener->on_stuck_mutator(event);
}

void Listeners::prepare_fork() {
  mutex_.native().lock();
  events_mutex_.native().lock();
}

void Listeners::parent_after_fork() noexcept {
  events_mutex_.native().unlock();
  mutex_.native().unlock();
}

void Listeners::child_after_fork() noexcept {
  events_.clear();
  delivered_ = 0;
  parent_after_fork();
}

}  // namespace fallow::detail
