#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "heap/life_entry.h"

namespace fallow::detail {

/// What FinalizerQueue and WeakQueue are inside of a heap: objects that wait for the program. The
/// objects are roots. The collector adds to the end while the world is stopped; mutators take from
/// the front, under the mutex. Owned by the heap, since registrations may outlive the handle.
class DeliveryQueue {
 public:
  DeliveryQueue() : mutex_(platform::LockRank::kDeliveries, "deliveries") {}

  // For mutators.
  /// The next entry, or nullptr. The caller keeps its object alive.
  LifeEntry* pop() noexcept;
  void set_listener(std::function<void()> listener);

  // For anyone.
  [[nodiscard]] std::size_t pending() const noexcept {
    return pending_.load(std::memory_order_relaxed);
  }
  /// Nothing is delivered any more.
  void close() noexcept { closed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  /// Calls the listener if something was added since the last call.
  void wake();

  // For the collector.
  void push(LifeEntry* entry) noexcept;
  EntryChain& chain() noexcept { return chain_; }
  /// A cycle begins: the objects that wait now are part of its snapshot.
  void begin_marking() noexcept { to_mark_ = chain_.front(); }
  /// The next object of the snapshot that is still here; nullptr when all have been returned.
  Object* next_to_mark() noexcept;
  bool closed_before_cycle = false;

 private:
  platform::RankedMutex mutex_;
  EntryChain chain_;
  LifeEntry* to_mark_ = nullptr;
  std::atomic<std::size_t> pending_{0};
  std::atomic<bool> closed_{false};
  std::atomic<bool> has_news_{false};
  std::function<void()> listener_;
};

}  // namespace fallow::detail
