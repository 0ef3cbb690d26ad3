// Timers that interrupt one thread: a signal each time the thread has run for so long, or so much
// time has passed.
//
// Thread-safety: any thread, for any thread of the process. Nothing survives a fork.
#pragma once

#include <cstdint>
#include <ctime>

namespace fallow::platform {

// What a handler is told: where the thread was, as addresses, and how many ticks were missed.
struct Interruption {
  uintptr_t instruction;
  uintptr_t stack_pointer;
  uintptr_t frame_pointer;
  uint64_t missed_ticks;
};

// Installs `handler`, which runs on the interrupted thread and must be async-signal-safe; errno is
// saved around it. False when the program uses the signal (SIGPROF) itself.
bool install_tick_handler(void (*handler)(const Interruption&)) noexcept;
// After this a late signal does nothing.
void remove_tick_handler() noexcept;

enum class TickClock { kThreadCpu, kWall };

// Signals thread `thread_id` each `interval_ns` on its own CPU clock or the wall clock. False when
// there is no such thread, or the system has no timer left.
bool start_thread_timer(uint64_t thread_id, TickClock clock, uint64_t interval_ns,
                        timer_t* timer) noexcept;
void stop_thread_timer(timer_t timer) noexcept;

}  // namespace fallow::platform
