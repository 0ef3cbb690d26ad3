#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fallow/profile.h"
#include "profile/record/lazy_memory.h"
#include "profile/record/stack_trace.h"
#include "profile/record/time_source.h"

namespace fallow::profile {

/// A stack that a timer has found, on its way from the signal handler to the writer.
struct TimeSlot {
  enum State : std::uint32_t { kFree, kBeingWritten, kReady };
  std::atomic<std::uint32_t> state;
  std::uint32_t stream;  ///< of the thread, or 0
  std::uint64_t thread_id;
  std::int64_t time_ns;
  std::uint64_t weight_ns;
  std::uint64_t stack_pointer;
  bool in_collector;
  StackTrace trace;
};

/// Interrupts every thread of the process at intervals and keeps its stack.
///
/// The writer's thread starts a timer for each thread that it finds, so that threads need not be
/// told of. The handler takes no lock, allocates nothing and touches no unwinder: it fills one of
/// kSlots slots, or counts a loss. All members but the handler belong to the writer.
class TimeSampler {
 public:
  static constexpr std::size_t kSlots = 1024;

  /// Throws Error when the signal is in use or there is no memory.
  void start(TimeSampling mode, std::uint64_t interval_ns, const TimeSource& time,
             std::uint32_t generation);
  void stop() noexcept;
  /// In the child of a fork: the timers are gone.
  void forget() noexcept;
  [[nodiscard]] bool is_on() const noexcept { return mode_ != TimeSampling::kOff; }

  /// Gives timers to threads that have come, and takes them from those that are gone. The calling
  /// thread gets none. Reads /proc: some microseconds a thread.
  void find_threads();

  /// Calls `take(slot)` for each stack found since the last call, and frees the slots.
  template <class Take>
  void collect(Take&& take) {
    for (std::size_t i = 0; slots_.is_allocated() && i < kSlots; ++i) {
      TimeSlot& slot = slots_[i];
      if (slot.state.load(std::memory_order_acquire) != TimeSlot::kReady) continue;
      take(slot);
      note_stack(slot.thread_id, slot.stack_pointer);
      slot.state.store(TimeSlot::kFree, std::memory_order_release);
    }
  }

  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_.load(); }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(); }

 private:
  struct Timer {
    timer_t timer;
    bool seen;
  };
  struct KnownStack {
    std::atomic<std::uint64_t> thread_id;
    std::atomic<std::uintptr_t> high;
  };
  static constexpr std::size_t kStacks = 4096;

  void tick(std::uintptr_t instruction, std::uintptr_t stack_pointer, std::uintptr_t frame_pointer,
            std::uint64_t ticks) noexcept;
  [[nodiscard]] std::uintptr_t stack_end(std::uint64_t thread_id) const noexcept;
  void note_stack(std::uint64_t thread_id, std::uintptr_t stack_pointer);

  static std::atomic<TimeSampler*> active;

  TimeSampling mode_ = TimeSampling::kOff;
  std::uint64_t interval_ns_ = 0;
  std::uint32_t generation_ = 0;  // of the recording: streams of others do not count
  const TimeSource* time_ = nullptr;
  LazyMemory<TimeSlot> slots_;
  LazyMemory<KnownStack> stacks_;
  std::atomic<std::uint32_t> next_slot_{0};
  std::atomic<std::uint64_t> samples_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::unordered_map<std::uint64_t, Timer> timers_;
};

}  // namespace fallow::profile
