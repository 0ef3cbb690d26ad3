// Every program that links fallow::profile can be recorded through its environment. The link option
// of the target asks for the symbol below, and so for this file, which nothing else refers to.
#include <dlfcn.h>

#include "profile/record/environment_start.h"

extern "C" {
extern const char fallow_profile_from_environment;
const char fallow_profile_from_environment = 1;
}

namespace {

[[gnu::constructor]] void begin() {
  // `fallow record` has put its malloc in front of this program. The program's own recorder sees
  // the heaps as well, and takes over.
  using Yield = void (*)();
  Yield yield = nullptr;
  *reinterpret_cast<void**>(&yield) = dlsym(RTLD_DEFAULT, "fallow_malloc_profile_yield");
  if (yield != nullptr) yield();
  fallow::profile::start_from_environment();
}

}  // namespace
