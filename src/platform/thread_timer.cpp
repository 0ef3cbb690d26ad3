#include "platform/thread_timer.h"

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>

namespace fallow::platform {
namespace {

constexpr int kSignal = SIGPROF;
constexpr uint64_t kNsPerSecond = 1'000'000'000;

std::atomic<void (*)(const Interruption&)> tick_handler{nullptr};

Interruption describe(const ucontext_t& context) noexcept {
  Interruption at{};
#if defined(__x86_64__)
  at.instruction = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  at.stack_pointer = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
  at.frame_pointer = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RBP]);
#elif defined(__aarch64__)
  at.instruction = context.uc_mcontext.pc;
  at.stack_pointer = context.uc_mcontext.sp;
  at.frame_pointer = context.uc_mcontext.regs[29];
#endif
  return at;
}

void on_signal(int, siginfo_t* info, void* context) {
  const int errno_before = errno;
  if (const auto handler = tick_handler.load(std::memory_order_acquire)) {
    Interruption at = describe(*static_cast<const ucontext_t*>(context));
    if (info->si_code == SI_TIMER && info->si_overrun > 0) {
      at.missed_ticks = static_cast<uint64_t>(info->si_overrun);
    }
    handler(at);
  }
  errno = errno_before;
}

// The clock of another thread of this process, as the kernel numbers it.
clockid_t cpu_clock_of(uint64_t thread_id) noexcept {
  constexpr int kPerThreadScheduler = 6;
  return static_cast<clockid_t>((~static_cast<unsigned>(thread_id) << 3) | kPerThreadScheduler);
}

}  // namespace

bool install_tick_handler(void (*handler)(const Interruption&)) noexcept {
  struct sigaction before{};
  if (sigaction(kSignal, nullptr, &before) != 0) return false;
  const bool ours = (before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction == on_signal;
  const bool unused = (before.sa_flags & SA_SIGINFO) == 0 &&
                      (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN);
  if (!ours && !unused) return false;
  tick_handler.store(handler, std::memory_order_release);
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(kSignal, &action, nullptr) == 0;
}

void remove_tick_handler() noexcept { tick_handler.store(nullptr, std::memory_order_release); }

bool start_thread_timer(uint64_t thread_id, TickClock clock, uint64_t interval_ns,
                        timer_t* timer) noexcept {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event._sigev_un._tid = static_cast<pid_t>(thread_id);
  const clockid_t id = clock == TickClock::kWall ? CLOCK_MONOTONIC : cpu_clock_of(thread_id);
  if (timer_create(id, &event, timer) != 0) return false;
  itimerspec times{};
  times.it_interval.tv_sec = static_cast<time_t>(interval_ns / kNsPerSecond);
  times.it_interval.tv_nsec = static_cast<long>(interval_ns % kNsPerSecond);
  times.it_value = times.it_interval;
  if (timer_settime(*timer, 0, &times, nullptr) == 0) return true;
  timer_delete(*timer);
  return false;
}

void stop_thread_timer(timer_t timer) noexcept { timer_delete(timer); }

}  // namespace fallow::platform
