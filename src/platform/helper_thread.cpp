#include "platform/helper_thread.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <csignal>
#include <memory>
#include <new>

namespace fallow::platform {

namespace {

struct Start {
  const char* name;
  void (*body)(void*);
  void* argument;
};

void* run(void* start) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(start));
  const Start copy = *owned;
  prctl(PR_SET_NAME, copy.name, 0, 0, 0);
  copy.body(copy.argument);
  return nullptr;
}

bool create(pthread_t* thread, int detach_state, const char* name, void (*body)(void*),
            void* argument) noexcept {
  auto* const start = new (std::nothrow) Start{name, body, argument};
  if (start == nullptr) return false;
  // The program's handlers belong on the program's threads; the mask is inherited.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, detach_state);
  const bool started = pthread_create(thread, &attributes, run, start) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) delete start;
  return started;
}

}  // namespace

bool start_helper_thread(const char* name, void (*body)(void*), void* argument) noexcept {
  pthread_t thread;
  return create(&thread, PTHREAD_CREATE_DETACHED, name, body, argument);
}

bool JoinedThread::start(const char* name, void (*body)(void*), void* argument) noexcept {
  started_ = create(&thread_, PTHREAD_CREATE_JOINABLE, name, body, argument);
  return started_;
}

void JoinedThread::join() noexcept {
  if (started_) pthread_join(thread_, nullptr);
  started_ = false;
}

}  // namespace fallow::platform
