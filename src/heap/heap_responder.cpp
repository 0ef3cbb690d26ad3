#include "fallow/heap_responder.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "platform/futex.h"
#include "platform/helper_thread.h"
#include "platform/thread_id.h"

namespace fallow {

namespace {

class HeapResponder final : public PressureResponder {
 public:
  HeapResponder(Heap& heap, HeapResponderOptions options)
      : heap_(heap), options_(std::move(options)) {}
  ~HeapResponder() override {
    // The child of a fork does not have the thread.
    if (process_ != platform::current_process_id()) return;
    wait(device::Clock::time_point::max());
  }
  HeapResponder(const HeapResponder&) = delete;
  HeapResponder& operator=(const HeapResponder&) = delete;

  PressureOutcome respond(const PressureInfo& info) override {
    if (process_ != platform::current_process_id()) {
      return PressureOutcome::skip(SkipReason::kForked);
    }
    const bool young = info.level == PressureLevel::kSoft || (info.round == 0 && info.attempt == 0);
    if (!young && !options_.in_major_pause && heap_.statistics().major_pauses > 0) {
      return PressureOutcome::skip(SkipReason::kDisabled);
    }
    const std::uint64_t before = freed();
    // A collection that somebody else waits for in vain is left to them.
    if (running_.exchange(1) != 0) return PressureOutcome::busy(0);
    full_ = !young;
    if (!platform::start_helper_thread("fallow pressure", &HeapResponder::run, this)) {
      running_.store(0);
      return PressureOutcome::skip(SkipReason::kBusy);
    }
    if (!wait(std::min(info.deadline, device::Clock::now() + options_.patience))) {
      return PressureOutcome::skip(SkipReason::kBusy);
    }
    PressureOutcome outcome;
    outcome.more_now = young && info.level != PressureLevel::kSoft;
    outcome.retry_is_useless = !young && options_.freed_bytes && freed() == before;
    return outcome;
  }

  bool wait_while_busy(std::uint64_t, device::Clock::time_point deadline) override {
    return wait(std::min(deadline, device::Clock::now() + options_.patience));
  }

 private:
  [[nodiscard]] std::uint64_t freed() const {
    return options_.freed_bytes ? options_.freed_bytes() : 0;
  }

  /// Until no collection of ours is under way; false at the deadline.
  bool wait(device::Clock::time_point deadline) noexcept {
    constexpr std::uint64_t kSliceNs = 50'000'000;
    while (running_.load(std::memory_order_acquire) != 0) {
      if (device::Clock::now() >= deadline) return false;
      platform::futex_wait(running_, 1, kSliceNs);
    }
    return true;
  }

  static void run(void* self) { static_cast<HeapResponder*>(self)->collect(); }
  void collect() noexcept {
    try {
      if (full_) {
        heap_.collect();
      } else {
        heap_.collect_minor();
      }
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // No memory for the survivors: nothing came back, and the device goes on to the next.
    }
    // The responder may be gone as soon as this is seen: waking touches only the word's address.
    running_.store(0, std::memory_order_release);
    platform::futex_wake_all(running_);
  }

  Heap& heap_;
  const HeapResponderOptions options_;
  const std::uint64_t process_ = platform::current_process_id();
  bool full_ = false;  ///< of the thread; written before it starts
  std::atomic<std::uint32_t> running_{0};
};

}  // namespace

std::shared_ptr<PressureResponder> make_heap_responder(Heap& heap, HeapResponderOptions options) {
  return std::make_shared<HeapResponder>(heap, std::move(options));
}

}  // namespace fallow
