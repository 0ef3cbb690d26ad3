#pragma once

#include <atomic>
#include <cstdint>

#include "device/pool.h"
#include "platform/futex.h"

namespace fallow::device::detail {

/// A request that did not fit, on the stack of its thread. All but `signal` belongs to the holder
/// of the device's mutex.
struct Waiter {
  PoolRequest request;
  DomainId domain = 0;     ///< whose queue it is in
  Block* block = nullptr;  ///< reserved for it
  bool no_metadata = false;
  bool resting = false;  ///< which of the two queues it is in
  Waiter* previous = nullptr;
  Waiter* next = nullptr;
  std::atomic<std::uint32_t> signal{0};  ///< changes when its thread should look again

  void wake() noexcept {
    signal.fetch_add(1, std::memory_order_release);
    platform::futex_wake_all(signal);
  }
};

/// First in, first out. Belongs to the holder of the device's mutex.
class WaiterQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] Waiter* first() const noexcept { return first_; }

  void push(Waiter* waiter) noexcept {
    waiter->previous = last_;
    waiter->next = nullptr;
    (last_ != nullptr ? last_->next : first_) = waiter;
    last_ = waiter;
  }
  void remove(Waiter* waiter) noexcept {
    (waiter->previous != nullptr ? waiter->previous->next : first_) = waiter->next;
    (waiter->next != nullptr ? waiter->next->previous : last_) = waiter->previous;
  }
  void abandon() noexcept { first_ = last_ = nullptr; }

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

}  // namespace fallow::device::detail
