#include "platform/ranked_mutex.h"

#include <fallow/detail/build_config.h>

#include <cstddef>

#include "platform/fatal.h"

namespace fallow::platform {
namespace {

using fallow::detail::kChecked;

// The mutexes a thread holds, in the order of acquisition. Trivial, so that it is usable during
// the destruction of other thread-local objects.
struct HeldLocks {
  static constexpr size_t kCapacity = 32;
  const RankedMutex* mutexes[kCapacity];
  size_t count;
};

thread_local constinit HeldLocks held{};

bool holds(const RankedMutex* mutex) noexcept {
  for (size_t i = 0; i < held.count; ++i) {
    if (held.mutexes[i] == mutex) return true;
  }
  return false;
}

void refuse_recursion(const RankedMutex* mutex) {
  if (holds(mutex)) {
    fatal("lock '%s' (rank %d) acquired twice by one thread", mutex->name(),
          static_cast<int>(mutex->rank()));
  }
}

void refuse_wrong_order(const RankedMutex* mutex) {
  refuse_recursion(mutex);
  for (size_t i = 0; i < held.count; ++i) {
    const RankedMutex* const other = held.mutexes[i];
    if (mutex->rank() <= other->rank()) {
      fatal("lock order: '%s' (rank %d) acquired while holding '%s' (rank %d)", mutex->name(),
            static_cast<int>(mutex->rank()), other->name(), static_cast<int>(other->rank()));
    }
  }
}

void refuse_too_many(const RankedMutex* mutex) {
  if (held.count == HeldLocks::kCapacity) {
    fatal("lock '%s': more than %zu locks held by one thread", mutex->name(), HeldLocks::kCapacity);
  }
}

void note_acquired(const RankedMutex* mutex) noexcept { held.mutexes[held.count++] = mutex; }

void note_released(const RankedMutex* mutex) {
  for (size_t i = held.count; i-- > 0;) {
    if (held.mutexes[i] != mutex) continue;
    for (--held.count; i < held.count; ++i) held.mutexes[i] = held.mutexes[i + 1];
    return;
  }
  fatal("lock '%s' (rank %d) released by a thread that does not hold it", mutex->name(),
        static_cast<int>(mutex->rank()));
}

}  // namespace

void RankedMutex::lock() {
  if constexpr (kChecked) {
    refuse_wrong_order(this);
    refuse_too_many(this);
  }
  mutex_.lock();
  if constexpr (kChecked) note_acquired(this);
}

void RankedMutex::unlock() {
  if constexpr (kChecked) note_released(this);
  mutex_.unlock();
}

bool RankedMutex::try_lock() {
  if constexpr (kChecked) {
    refuse_recursion(this);
    refuse_too_many(this);
  }
  const bool acquired = mutex_.try_lock();
  if constexpr (kChecked) {
    if (acquired) note_acquired(this);
  }
  return acquired;
}

bool RankedMutex::held_by_this_thread() const noexcept {
  if constexpr (kChecked) return holds(this);
  return true;
}

}  // namespace fallow::platform
