// Loaded in front of a program, the library begins to record it.
#include "profile/malloc/malloc_profile.h"
#include "profile/malloc/real_allocator.h"
#include "profile/record/control_lock.h"
#include "profile/record/environment_start.h"
#include "profile/record/recording.h"

/// Ends the recording: the program has a recorder of its own, which takes the file over.
extern "C" [[gnu::visibility("default")]] void fallow_malloc_profile_yield() {
  const fallow::profile::ControlLock lock;
  fallow::profile::Recording::instance().stop(fallow::profile::EndReason::kStopped);
}

namespace {

[[gnu::constructor]] void begin() {
  fallow::profile::find_real_allocator();
  fallow::profile::MallocProfile::begin();
  fallow::profile::start_from_environment();
}

}  // namespace
