#include "profile/record/time_sampler.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "platform/split_mix.h"
#include "platform/thread_id.h"
#include "platform/thread_timer.h"
#include "profile/record/stack_walk.h"
#include "profile/record/stream.h"
#include "profile/record/thread_context.h"
#include "telemetry/collector_time.h"

namespace fallow::profile {

std::atomic<TimeSampler*> TimeSampler::active{nullptr};

namespace {

/// Where the mapping ends in which an address lies; 0 when there is none.
std::uintptr_t mapping_end(std::uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long low = 0;
    unsigned long long high = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx", &low, &high) != 2) continue;
    if (address >= low && address < high) return static_cast<std::uintptr_t>(high);
  }
  return 0;
}

}  // namespace

void TimeSampler::start(TimeSampling mode, std::uint64_t interval_ns, const TimeSource& time,
                        std::uint32_t generation) {
  generation_ = generation;
  mode_ = TimeSampling::kOff;
  samples_.store(0);
  lost_.store(0);
  if (mode == TimeSampling::kOff) return;
  if ((!slots_.is_allocated() && !slots_.allocate(kSlots)) ||
      (!stacks_.is_allocated() && !stacks_.allocate(kStacks))) {
    throw Error("fallow: no memory for samples of time");
  }
  slots_.clear();
  stacks_.clear();
  time_ = &time;
  interval_ns_ = interval_ns;
  active.store(this, std::memory_order_release);
  const bool installed = platform::install_tick_handler([](const platform::Interruption& at) {
    if (TimeSampler* const sampler = active.load(std::memory_order_acquire)) {
      sampler->tick(at.instruction, at.stack_pointer, at.frame_pointer, at.missed_ticks + 1);
    }
  });
  if (!installed) {
    active.store(nullptr);
    throw Error("fallow: time cannot be sampled: the program uses SIGPROF itself");
  }
  mode_ = mode;
}

void TimeSampler::stop() noexcept {
  if (!is_on()) return;
  for (const auto& [thread, timer] : timers_) platform::stop_thread_timer(timer.timer);
  forget();
}

void TimeSampler::forget() noexcept {
  platform::remove_tick_handler();
  active.store(nullptr, std::memory_order_release);
  timers_.clear();
  mode_ = TimeSampling::kOff;
}

void TimeSampler::find_threads() {
  for (auto& [thread, timer] : timers_) timer.seen = false;
  const std::uint64_t own = platform::current_thread_id();
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const std::string name = entry.path().filename().string();
    std::uint64_t thread = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), thread);
    if (parsed.ec != std::errc() || thread == own) continue;
    if (const auto known = timers_.find(thread); known != timers_.end()) {
      known->second.seen = true;
      continue;
    }
    const auto clock =
        mode_ == TimeSampling::kWall ? platform::TickClock::kWall : platform::TickClock::kThreadCpu;
    timer_t timer{};
    if (platform::start_thread_timer(thread, clock, interval_ns_, &timer)) {
      timers_.emplace(thread, Timer{timer, true});
    }
  }
  for (auto timer = timers_.begin(); timer != timers_.end();) {
    if (timer->second.seen) {
      ++timer;
      continue;
    }
    platform::stop_thread_timer(timer->second.timer);
    timer = timers_.erase(timer);
  }
}

std::uintptr_t TimeSampler::stack_end(std::uint64_t thread_id) const noexcept {
  const KnownStack& known = stacks_[platform::mix_bits(thread_id) % kStacks];
  return known.thread_id.load(std::memory_order_acquire) == thread_id
             ? known.high.load(std::memory_order_relaxed)
             : 0;
}

void TimeSampler::note_stack(std::uint64_t thread_id, std::uintptr_t stack_pointer) {
  if (stack_end(thread_id) != 0) return;
  KnownStack& known = stacks_[platform::mix_bits(thread_id) % kStacks];
  known.thread_id.store(0, std::memory_order_release);
  known.high.store(mapping_end(stack_pointer), std::memory_order_relaxed);
  known.thread_id.store(thread_id, std::memory_order_release);
}

void TimeSampler::tick(std::uintptr_t instruction, std::uintptr_t stack_pointer,
                       std::uintptr_t frame_pointer, std::uint64_t ticks) noexcept {
  TimeSlot& slot = slots_[next_slot_.fetch_add(1, std::memory_order_relaxed) % kSlots];
  std::uint32_t free = TimeSlot::kFree;
  if (!slot.state.compare_exchange_strong(free, TimeSlot::kBeingWritten,
                                          std::memory_order_acquire)) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const ThreadContext& context = thread_context;
  slot.thread_id = platform::current_thread_id();
  const bool has_stream = context.stream != nullptr && context.generation == generation_;
  slot.stream = has_stream ? context.stream->number : 0;
  slot.time_ns = time_->now();
  slot.weight_ns = interval_ns_ * ticks;
  slot.stack_pointer = stack_pointer;
  slot.in_collector = telemetry::in_collector();
  slot.trace = StackTrace();
  slot.trace.add(StackEntry::of(NodeKind::kNative, instruction));
  const bool own_stack = stack_pointer >= context.stack_low && stack_pointer < context.stack_high;
  const std::uintptr_t high = own_stack ? context.stack_high : stack_end(slot.thread_id);
  if (high > stack_pointer) {
    walk_frames(frame_pointer, {stack_pointer, high}, Frame::innermost(), nullptr, slot.trace);
  } else {
    walk_embedded(Frame::innermost(), slot.trace);
  }
  samples_.fetch_add(1, std::memory_order_relaxed);
  slot.state.store(TimeSlot::kReady, std::memory_order_release);
}

}  // namespace fallow::profile
