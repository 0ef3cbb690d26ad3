#include "profile/record/control_lock.h"

#include <sched.h>

#include "profile/record/recorded_heaps.h"
#include "profile/record/recording.h"

namespace fallow::profile {

void ControlLock::acquire() {
  while (!Recording::instance().control().try_lock()) {
    // Waits for the heaps' watchers, parked, as long as the holder is about to stop a world.
    visit_heaps([](Heap&) {});
    sched_yield();
  }
}

void ControlLock::release() noexcept { Recording::instance().control().unlock(); }

}  // namespace fallow::profile
