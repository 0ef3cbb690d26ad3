// Being told that a thread ends, after its thread_local objects have been destroyed.
//
// Thread-safety: create() once; the rest any thread. Not for signal handlers.
#pragma once

#include <pthread.h>

namespace fallow::platform {

class ThreadExit {
 public:
  // `ended` receives what the ending thread has given to watch(). If watch() is called while the
  // thread ends, `ended` is called again, a few times. False when the system has no key left.
  bool create(void (*ended)(void*)) noexcept { return pthread_key_create(&key_, ended) == 0; }

  // For the calling thread; null ends the watch. May allocate. False when there is no memory.
  bool watch(void* value) const noexcept { return pthread_setspecific(key_, value) == 0; }

 private:
  pthread_key_t key_{};
};

}  // namespace fallow::platform
