#include "device/call_registry.h"

#include "fallow/thread_hooks.h"

namespace fallow {

namespace device::detail {

void wait_for_calls(const std::atomic<std::uint32_t>& running, const void* entry,
                    const std::atomic<bool>& dead) noexcept {
  const std::uint32_t own = ThreadFrame::depth(entry);
  std::uint32_t now = running.load(std::memory_order_acquire);
  if (now <= own || dead.load(std::memory_order_relaxed)) return;
  const BlockingScope detached;
  while (now > own) {
    platform::futex_wait(running, now, 0);
    now = running.load(std::memory_order_acquire);
  }
}

}  // namespace device::detail

void Registration::reset() noexcept {
  if (const auto target = std::move(target_)) target->unregister();
}

Registration& Registration::operator=(Registration&& other) noexcept {
  if (this != &other) {
    reset();
    target_ = std::move(other.target_);
  }
  return *this;
}

}  // namespace fallow
