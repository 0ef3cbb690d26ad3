#pragma once

#include <atomic>
#include <cstdint>

namespace fallow::device::detail {

/// Callbacks of the original form that are running, in all threads.
extern std::atomic<std::uint32_t> running_callbacks;
void note_device_call_slow() noexcept;

/// At the entry of every allocation and free: a callback that holds its lock now would have waited
/// for itself.
inline void note_device_call() noexcept {
  if (running_callbacks.load(std::memory_order_relaxed) != 0) [[unlikely]]
    note_device_call_slow();
}

}  // namespace fallow::device::detail
