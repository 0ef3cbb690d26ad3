#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "fallow/detail/barrier.h"
#include "platform/ranked_mutex.h"

namespace fallow::detail {

/// The root cells behind Global<T>. Cells never move and are reused, never returned, so that a
/// recorded slot stays valid after its Global is gone. Thread-safe: threads without a mutator
/// acquire and release also while all mutators are stopped. for_each needs them stopped.
class GlobalCells {
 public:
  GlobalCells() : mutex_(platform::LockRank::kGlobals, "globals") {}

  Slot* acquire() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) {
      free_.reserve(cells_.size() + 1);  // so that release() cannot fail
      return &cells_.emplace_back(nullptr);
    }
    Slot* const cell = free_.back();
    free_.pop_back();
    return cell;
  }
  void release(Slot* cell) noexcept {
    const std::scoped_lock lock(mutex_);
    store_with_barrier(*cell, nullptr);
    free_.push_back(cell);
  }
  [[nodiscard]] std::size_t in_use() const noexcept { return cells_.size() - free_.size(); }
  [[nodiscard]] platform::RankedMutex& mutex() noexcept { return mutex_; }

  template <class Visit>
  void for_each(Visit&& visit) {
    const std::scoped_lock lock(mutex_);
    for (Slot& cell : cells_) visit(reinterpret_cast<Object**>(&cell));
  }

 private:
  platform::RankedMutex mutex_;
  std::deque<Slot> cells_;
  std::vector<Slot*> free_;
};

}  // namespace fallow::detail
