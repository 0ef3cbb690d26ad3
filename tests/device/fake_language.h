#pragma once

#include <atomic>
#include <mutex>

#include "fallow/thread_hooks.h"

namespace fallow::test {

/// A host language whose threads are attached by hand, and a lock like the GIL.
class FakeLanguage : public ThreadHooks {
 public:
  FakeLanguage() { set_thread_hooks(this); }
  ~FakeLanguage() override { set_thread_hooks(nullptr); }
  FakeLanguage(const FakeLanguage&) = delete;
  FakeLanguage& operator=(const FakeLanguage&) = delete;

  void enter() {
    lock_.lock();
    attached() = true;
  }
  void leave() {
    attached() = false;
    lock_.unlock();
  }
  static bool& attached() {
    thread_local bool value = false;
    return value;
  }

  void* detach() noexcept override {
    if (!attached()) return nullptr;
    leave();
    return this;
  }
  void attach(void*) noexcept override { enter(); }
  bool interrupted(void*) noexcept override { return signal.load(); }
  bool others_wait() noexcept override { return collecting; }

  std::atomic<bool> signal{false};
  static inline thread_local bool collecting = false;

 private:
  std::mutex lock_;
};

}  // namespace fallow::test
