#include "fallow/pressure_callback.h"

#include <utility>

#include "device/callback_check.h"
#include "fallow/error.h"

namespace fallow {

namespace device::detail {

std::atomic<std::uint32_t> running_callbacks{0};

namespace {

/// A callback that the calling thread is in.
struct CallbackFrame {
  const std::unique_lock<std::mutex>& lock;
  bool used_device_while_locked = false;
  CallbackFrame* outer = nullptr;
};
thread_local constinit CallbackFrame* innermost_callback = nullptr;

class CallbackScope {
 public:
  explicit CallbackScope(CallbackFrame& frame) noexcept {
    frame.outer = innermost_callback;
    innermost_callback = &frame;
    running_callbacks.fetch_add(1, std::memory_order_relaxed);
  }
  ~CallbackScope() {
    running_callbacks.fetch_sub(1, std::memory_order_relaxed);
    innermost_callback = innermost_callback->outer;
  }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;
};

}  // namespace

void note_device_call_slow() noexcept {
  if (innermost_callback != nullptr && innermost_callback->lock.owns_lock()) {
    innermost_callback->used_device_while_locked = true;
  }
}

namespace {

/// A mutex with a link. The callback may leave it locked, and then it must never be destroyed.
struct CallbackMutex {
  std::mutex mutex;
  CallbackMutex* next = nullptr;
};

void give_up(std::unique_ptr<CallbackMutex> mutex) noexcept {
  static std::atomic<CallbackMutex*> given_up{nullptr};
  mutex->next = given_up.load(std::memory_order_relaxed);
  while (!given_up.compare_exchange_weak(mutex->next, mutex.get())) {
  }
  static_cast<void>(mutex.release());
}

class CallbackResponder final : public PressureResponder {
 public:
  explicit CallbackResponder(PressureCallback callback) : callback_(std::move(callback)) {}

  PressureOutcome respond(const PressureInfo&) override {
    auto own = std::make_unique<CallbackMutex>();
    const std::mutex* const mutex = &own->mutex;
    std::unique_lock<std::mutex> lock(own->mutex);
    CallbackFrame frame{lock};
    try {
      const CallbackScope scope(frame);
      callback_(lock);
    } catch (...) {
      if (lock.mutex() != mutex) give_up(std::move(own));
      throw;
    }
    if (lock.mutex() != mutex) {
      give_up(std::move(own));
      throw UsageError("the pressure callback returned without the mutex that it was given");
    }
    if (!lock.owns_lock()) {
      throw UsageError("the pressure callback returned without having locked again");
    }
    lock.unlock();
    if (frame.used_device_while_locked) {
      throw UsageError("the pressure callback used the device while it held the lock");
    }
    return PressureOutcome::done();
  }

 private:
  const PressureCallback callback_;
};

}  // namespace

}  // namespace device::detail

std::shared_ptr<PressureResponder> make_callback_responder(PressureCallback callback) {
  return std::make_shared<device::detail::CallbackResponder>(std::move(callback));
}

}  // namespace fallow
