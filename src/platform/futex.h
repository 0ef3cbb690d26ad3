#pragma once

#include <atomic>
#include <cstdint>

// Waiting for a word to change: the wait primitive under stop requests. Unlike a condition variable
// it holds no state of its own, so that it survives a fork.
//
// Thread-safety: any thread. Spurious returns are possible: callers loop.

namespace fallow::platform {

// Blocks while `word` is `expected`, for at most `timeout_ns` (0: without limit).
void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected, uint64_t timeout_ns) noexcept;

// Wakes all threads that wait for `word`.
void futex_wake_all(const std::atomic<uint32_t>& word) noexcept;

}  // namespace fallow::platform
