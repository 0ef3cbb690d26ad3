// Loaded in front of a program, the library begins to record it.
#include "profile/malloc/malloc_profile.h"
#include "profile/malloc/real_allocator.h"
#include "profile/record/environment_start.h"

namespace {

[[gnu::constructor]] void begin() {
  fallow::profile::find_real_allocator();
  fallow::profile::MallocProfile::begin();
  fallow::profile::start_from_environment();
}

}  // namespace
