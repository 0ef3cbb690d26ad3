#pragma once

#include <atomic>

namespace fallow::device::detail {

/// What was given back while the device was busy, linked by a member of the items. push() is
/// lock-free and may be called by any thread; who takes the list must hold the device's mutex.
template <class Item, Item* Item::* Next>
class PendingFrees {
 public:
  void push(Item* item) noexcept {
    Item* head = head_.load(std::memory_order_relaxed);
    do {
      item->*Next = head;
    } while (!head_.compare_exchange_weak(head, item, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
  }
  [[nodiscard]] bool empty() const noexcept {
    return head_.load(std::memory_order_seq_cst) == nullptr;
  }
  /// All of them, the last pushed first.
  Item* take_all() noexcept { return head_.exchange(nullptr, std::memory_order_acquire); }
  void abandon() noexcept { head_.store(nullptr, std::memory_order_relaxed); }

 private:
  std::atomic<Item*> head_{nullptr};
};

}  // namespace fallow::device::detail
