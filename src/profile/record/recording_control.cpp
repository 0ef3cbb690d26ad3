// Beginning and end of a recording, and what is told about it.
#include <atomic>
#include <cstdlib>

#include "fallow/error.h"
#include "platform/clock.h"
#include "platform/fast_unwind.h"
#include "platform/futex.h"
#include "platform/thread_id.h"
#include "profile/record/control_lock.h"
#include "profile/record/file_header.h"
#include "profile/record/fork_policy.h"
#include "profile/record/recording.h"

namespace fallow::profile {

namespace {

/// "%p" is the process.
std::string file_name(std::string pattern) {
  const std::string process = std::to_string(platform::current_process_id());
  for (std::size_t at = pattern.find("%p"); at != std::string::npos; at = pattern.find("%p", at)) {
    pattern.replace(at, 2, process);
    at += process.size();
  }
  return pattern;
}

void stop_at_exit() {
  Recording& recording = Recording::instance();
  const ControlLock lock;
  recording.stop(EndReason::kExit);
}

}  // namespace

void Recording::lock_writer() noexcept {
  writer_mutex_wanted_.fetch_add(1);
  writer_mutex_.lock();
  writer_mutex_wanted_.fetch_sub(1);
}

void Recording::prepare_process() {
  if (is_prepared_) return;
  if (!pool_.allocate() || !streams_.allocate() || !definitions_.allocate()) {
    throw Error("fallow: no memory for a recording");
  }
  ForkPolicy::install();
  std::atexit(stop_at_exit);
  is_prepared_ = true;
}

void Recording::start(const RecorderOptions& options) {
  const InsideProfile inside;
  if (is_recording()) throw UsageError("fallow: a recording runs already in this process");
  writer_.join();  // of a recording that has ended by itself
  prepare_process();
  {
    const WriterLock lock(*this);
    begin(options);
  }
  leave_.store(false);
  if (!writer_.start("fallow-profile", run_writer, this)) {
    generation_.store(0);
    interval_.store(0, std::memory_order_relaxed);
    const WriterLock lock(*this);
    finish(EndReason::kStopped, "the system refuses a thread");
    throw Error("fallow: the system refuses a thread for the recording");
  }
}

void Recording::begin(const RecorderOptions& options) {
  options_ = options;
  options_.file = file_name(options.file);
  if (options.native == NativeStacks::kFast && !platform::load_fast_unwind()) {
    throw Error("fallow: native stacks by 'fast' need libunwind.so.8 (Debian: libunwind8)");
  }
  time_.start();
  time_sampler_.start(options.time, options.time_interval_ns, time_, last_generation_ + 1);
  try {
    file_.create(options_.file, options.overwrite, options.max_file_bytes);
  } catch (...) {
    time_sampler_.stop();
    throw;
  }
  time_events_.clear();
  time_streams_.clear();
  status_ = {};
  status_.file = options_.file;
  streams_.reset(false);
  pool_.clear();
  {
    const std::lock_guard lock(definitions_.mutex());
    definitions_.clear();
    streamless_ = {};
  }
  native_ = options.native;
  interval_control_.start(options.interval_bytes, options.budget, options.max_file_bytes);
  loader_generation_ = 0;
  new_modules_.clear();
  perf_map_.start();
  code_seen_ = 0;
  samples_before_ = lost_before_ = measured_before_ns_ = 0;
  writing_cpu_ns_.store(0);
  cpu_at_start_ns_ = platform::process_cpu_ns();
  last_tick_ns_ = platform::monotonic_ns();
  const std::vector<std::uint8_t> header =
      header_payload(options_, interval_control_.interval_bytes(), time_.start_monotonic_ns());
  file_.add(ChunkKind::kHeader, 0, header.data(), header.size());
  write_definitions();
  file_.flush();
  if (file_.problem() != ChunkFile::Problem::kNone) {
    const std::string text = file_.problem_text();
    file_.close();
    time_sampler_.stop();
    throw FileError("fallow: " + text, options_.file, FileError::Reason::kOther);
  }
  interval_.store(interval_control_.interval_bytes(), std::memory_order_relaxed);
  generation_.store(++last_generation_, std::memory_order_release);
}

void Recording::stop(EndReason reason) noexcept {
  const InsideProfile inside;
  leave_.store(true);
  wake_.fetch_add(1);
  platform::futex_wake_all(wake_);
  writer_.join();
  const WriterLock lock(*this);
  if (!is_recording()) return;
  // From here on nobody appends: whoever has a stream acquired finishes, and take_buffers waits.
  generation_.store(0);
  interval_.store(0, std::memory_order_relaxed);
  is_ending_ = true;
  time_sampler_.stop();
  drain(true);
  is_ending_ = false;
  if (!file_.is_open()) return;  // the last of it did not fit
  tick({});
  finish(reason, {});
}

void Recording::flush() noexcept {
  const InsideProfile inside;
  const WriterLock lock(*this);
  if (!is_recording()) return;
  is_flushing_ = true;
  drain(true);
  is_flushing_ = false;
}

void Recording::fill_figures(RecorderStatus& status) noexcept {
  const Account sum = account();
  status.samples = sum.samples;
  status.lost = sum.lost;
  status.sampling_cpu_ns = sum.measured_ns;
  status.writing_cpu_ns = writing_cpu_ns_.load();
  status.process_cpu_ns = platform::process_cpu_ns() - cpu_at_start_ns_;
  status.time_samples = time_sampler_.samples();
  status.lost_time_samples = time_sampler_.lost();
  status.elapsed_ns = platform::monotonic_ns() - time_.start_monotonic_ns();
  status.file_bytes = file_.size();
  status.memory_bytes = memory_bytes();
  if (const std::size_t interval = interval_control_.interval_bytes(); interval != 0) {
    status.interval_bytes = interval;
  }
}

RecorderStatus Recording::status() noexcept {
  const InsideProfile inside;
  const WriterLock lock(*this);
  RecorderStatus status = status_;
  if (is_recording()) {
    status.state = RecorderStatus::State::kRecording;
    fill_figures(status);
  }
  return status;
}

}  // namespace fallow::profile
