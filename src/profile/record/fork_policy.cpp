#include "profile/record/fork_policy.h"

#include <exception>

#include "platform/fork_handlers.h"
#include "platform/thread_id.h"
#include "profile/record/control_lock.h"
#include "profile/record/recording.h"

namespace fallow::profile {

// Two registrations, since locks of heaps come between the control lock and the others.

void ForkPolicy::install() {
  platform::on_fork(prepare_control, release_control, child_control,
                    platform::LockRank::kProfileControl);
  platform::on_fork(prepare_inner, release_inner, child_inner, platform::LockRank::kProfileWriter);
}

void ForkPolicy::prepare_control() { ControlLock::acquire(); }
void ForkPolicy::release_control() { ControlLock::release(); }

void ForkPolicy::prepare_inner() {
  Recording& recording = Recording::instance();
  ++thread_context.inside;  // the locks are held: what fork allocates is not sampled
  recording.lock_writer();
  recording.streams_.mutex().lock();
  FunctionRegistry::instance().mutex().lock();
  recording.definitions_.mutex().lock();
  recording.pool_.mutex().lock();
}

void ForkPolicy::release_inner() {
  Recording& recording = Recording::instance();
  recording.pool_.mutex().unlock();
  recording.definitions_.mutex().unlock();
  FunctionRegistry::instance().mutex().unlock();
  recording.streams_.mutex().unlock();
  recording.unlock_writer();
  --thread_context.inside;
}

void ForkPolicy::child_inner() {
  Recording& recording = Recording::instance();
  recording.was_recording_ = recording.is_recording();
  recording.generation_.store(0);
  recording.interval_.store(0, std::memory_order_relaxed);
  recording.writer_.forget();
  recording.writer_mutex_wanted_.store(0);  // of threads that are not there
  recording.file_.abandon();
  recording.time_sampler_.forget();
  thread_context.stream = nullptr;
  release_inner();
  if (!recording.was_recording_) return;
  recording.streams_.reset(true);
  recording.status_.state = RecorderStatus::State::kForked;
}

void ForkPolicy::child_control() {
  Recording& recording = Recording::instance();
  if (recording.was_recording_ && recording.options_.follow_fork) {
    RecorderOptions options = recording.options_;
    options.file += "." + std::to_string(platform::current_process_id());
    try {
      recording.start(options);
    } catch (const std::exception& error) {
      recording.status_.error = error.what();
    }
  }
  recording.control_.unlock();
}

}  // namespace fallow::profile
