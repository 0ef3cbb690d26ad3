#include "platform/ranked_mutex.h"

#include <cstddef>

#include "platform/fatal.h"
#include "platform/spin.h"

namespace fallow::platform {
namespace {

using fallow::detail::kChecked;

/// About what sleeping and being woken would take at best.
constexpr uint64_t kSpinNs = 5'000;

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

}  // namespace

void RankedMutex::lock_contended() {
  if (!spin_until([this] { return mutex_.try_lock(); }, kSpinNs)) mutex_.lock();
}

void RankedMutex::refuse_recursion() const {
  if (holds(this)) {
    fatal("lock '%s' (rank %d) acquired twice by one thread", name(), static_cast<int>(rank()));
  }
}

void RankedMutex::refuse_wrong_order() const {
  refuse_recursion();
  for (size_t i = 0; i < held.count; ++i) {
    const RankedMutex* const other = held.mutexes[i];
    if (rank() <= other->rank()) {
      fatal("lock order: '%s' (rank %d) acquired while holding '%s' (rank %d)", name(),
            static_cast<int>(rank()), other->name(), static_cast<int>(other->rank()));
    }
  }
}

void RankedMutex::refuse_too_many() const {
  if (held.count == HeldLocks::kCapacity) {
    fatal("lock '%s': more than %zu locks held by one thread", name(), HeldLocks::kCapacity);
  }
}

void RankedMutex::before_lock() const {
  refuse_wrong_order();
  refuse_too_many();
}

void RankedMutex::before_try_lock() const {
  refuse_recursion();
  refuse_too_many();
}

void RankedMutex::note_acquired() const noexcept { held.mutexes[held.count++] = this; }

void RankedMutex::note_released() const {
  for (size_t i = held.count; i-- > 0;) {
    if (held.mutexes[i] != this) continue;
    for (--held.count; i < held.count; ++i) held.mutexes[i] = held.mutexes[i + 1];
    return;
  }
  fatal("lock '%s' (rank %d) released by a thread that does not hold it", name(),
        static_cast<int>(rank()));
}

bool RankedMutex::held_by_this_thread() const noexcept {
  if constexpr (kChecked) return holds(this);
  return true;
}

}  // namespace fallow::platform
