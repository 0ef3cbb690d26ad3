#include "platform/write_signals.h"

#include <pthread.h>
#include <time.h>

#include <initializer_list>

namespace fallow::platform {

WriteSignalsHeld::WriteSignalsHeld() noexcept {
  sigemptyset(&signals_);
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  // One that is pending already belongs to the program: leave it alone.
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    if (sigismember(&pending, number) == 0) sigaddset(&signals_, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

WriteSignalsHeld::~WriteSignalsHeld() {
  const timespec no_wait{};
  while (sigtimedwait(&signals_, nullptr, &no_wait) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace fallow::platform
