#include "fallow/thread_hooks.h"

#include <atomic>

namespace fallow {

namespace {
std::atomic<ThreadHooks*> current_hooks{nullptr};
}  // namespace

void set_thread_hooks(ThreadHooks* hooks) noexcept {
  current_hooks.store(hooks, std::memory_order_release);
}

bool others_wait_for_this_thread() noexcept {
  ThreadHooks* const hooks = current_hooks.load(std::memory_order_acquire);
  return hooks != nullptr && hooks->others_wait();
}

BlockingScope::BlockingScope() noexcept
    : hooks_(current_hooks.load(std::memory_order_acquire)),
      token_(hooks_ != nullptr ? hooks_->detach() : nullptr) {}

BlockingScope::~BlockingScope() {
  if (token_ != nullptr) hooks_->attach(token_);
}

bool BlockingScope::interrupted() noexcept {
  return token_ != nullptr && hooks_->interrupted(token_);
}

}  // namespace fallow
