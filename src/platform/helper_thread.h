// Threads of the library's own, beside those of the program.
//
// Thread-safety: any thread.
#pragma once

#include <pthread.h>

namespace fallow::platform {

// Starts a thread that runs `body(argument)` and is never joined: it may still run when the process
// ends, so it must use only what is never destroyed. It receives none of the process's signals; its
// name is `name`, of which the system keeps 15 characters. It does not exist in the child of a
// fork. False when the system refuses.
bool start_helper_thread(const char* name, void (*body)(void*), void* argument) noexcept;

// The same, for a thread that somebody waits for. In the child of a fork nobody may: forget() it.
class JoinedThread {
 public:
  JoinedThread() = default;
  // The thread has been joined or forgotten.
  ~JoinedThread() = default;
  JoinedThread(const JoinedThread&) = delete;
  JoinedThread& operator=(const JoinedThread&) = delete;

  // False when the system refuses.
  bool start(const char* name, void (*body)(void*), void* argument) noexcept;
  // Waits for the end of the body; nothing if there is no thread.
  void join() noexcept;
  void forget() noexcept { started_ = false; }

 private:
  pthread_t thread_{};
  bool started_ = false;
};

}  // namespace fallow::platform
