#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fallow/profile.h"
#include "platform/helper_thread.h"
#include "platform/ranked_mutex.h"
#include "profile/record/chunk_file.h"
#include "profile/record/definitions.h"
#include "profile/record/event_buffer.h"
#include "profile/record/interval_control.h"
#include "profile/record/new_modules.h"
#include "profile/record/perf_map.h"
#include "profile/record/stream.h"
#include "profile/record/thread_context.h"
#include "profile/record/time_sampler.h"
#include "profile/record/time_source.h"

namespace fallow::profile {

/// A level of memory to be noted with each flush: heap number and bytes.
struct HeapLevel {
  std::uint64_t heap;
  std::size_t used_bytes;
  std::size_t committed_bytes;
};

/// The fields of a Pause record.
struct PauseFacts {
  PauseKind kind = PauseKind::kMinor;
  std::uint64_t wall_ns = 0;
  std::uint64_t cpu_ns = 0;
  std::uint64_t number = 0;
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  std::uint64_t state_before = 0;
  std::uint64_t state_after = 0;
};

/// The one recording of the process: takes events from any thread and writes them.
///
/// Event members are called by allocators, never throw, and do nothing while nothing is recorded.
/// Lives for ever, since threads may be in it when the process ends.
class Recording {
 public:
  static Recording& instance() noexcept;

  /// As Recorder::start. Called under the control lock.
  void start(const RecorderOptions& options);
  void stop(EndReason reason) noexcept;
  void flush() noexcept;

  /// `caller` is the frame address of the function whose caller comes first in the stack.
  SampleId take(const AllocationSample& sample, const void* caller) noexcept;
  void minor(std::uint64_t heap, std::uint64_t gc, std::span<const SampleFate> fates) noexcept;
  void died(std::uint64_t heap, std::uint64_t gc, std::span<const SampleId> ids) noexcept;
  void untracked(std::uint64_t heap, std::span<const SampleId> ids) noexcept;
  void pause(std::uint64_t heap, const PauseFacts& facts) noexcept;

  [[nodiscard]] std::size_t interval_bytes() const noexcept {
    return interval_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_recording() const noexcept {
    return generation_.load(std::memory_order_acquire) != 0;
  }
  [[nodiscard]] std::uint64_t seed() const noexcept { return options_.seed; }
  [[nodiscard]] RecorderStatus status() noexcept;

  /// Called by the writer with a new interval, under no lock of the recording.
  void on_interval(std::function<void(std::size_t)> told) { tell_interval_ = std::move(told); }
  /// Called by the writer for the levels of the heaps, under no lock of the recording.
  void on_levels(std::function<std::vector<HeapLevel>()> ask) { ask_levels_ = std::move(ask); }
  /// Under the control lock, which is this one.
  platform::RankedMutex& control() noexcept { return control_; }

  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  friend class ForkPolicy;
  class StreamUse;
  struct Account {
    std::uint64_t samples;
    std::uint64_t lost;
    std::uint64_t measured_ns;
  };
  Recording();
  ~Recording() = default;

  Stream* open_stream(ThreadContext& context, std::uint32_t generation) noexcept;
  void thread_ended(Stream& stream) noexcept;
  std::uint32_t node_of(Stream& stream, const void* caller) noexcept;
  std::uint32_t interned(Stream& stream, const StackTrace& trace) noexcept;
  void append_copy(Stream& stream, const void* caller, std::int64_t now_ns) noexcept;
  bool append_sample(Stream& stream, const AllocationSample& sample, std::uint32_t node,
                     std::int64_t now_ns) noexcept;
  void note_streamless(const AllocationSample& sample) noexcept;
  template <class Write>
  void note(EventTag tag, std::size_t most, Write&& write) noexcept;
  void wake_writer() noexcept;

  // For all but the writer, which would otherwise come back for the lock before others wake up.
  void lock_writer() noexcept;
  void unlock_writer() noexcept { writer_mutex_.unlock(); }
  class WriterLock {
   public:
    explicit WriterLock(Recording& recording) noexcept : recording_(recording) {
      recording_.lock_writer();
    }
    ~WriterLock() { recording_.unlock_writer(); }
    WriterLock(const WriterLock&) = delete;
    WriterLock& operator=(const WriterLock&) = delete;

   private:
    Recording& recording_;
  };

  // Beginning and end: recording_control.cpp.
  void prepare_process();
  void begin(const RecorderOptions& options);
  void finish(EndReason reason, const std::string& text) noexcept;
  void fill_figures(RecorderStatus& status) noexcept;

  // The writer: recording_writer.cpp. Under writer_mutex_, but for the first three.
  static void run_writer(void* recording);
  void write_until_told() noexcept;
  void wait_for_work(std::uint64_t flushed_ns) noexcept;
  void drain(bool everything) noexcept;
  void take_buffers(bool everything) noexcept;
  void write_definitions();
  void write_events(EventBuffer*& buffers);
  void write_process_events(std::span<const HeapLevel> levels);
  void tick(std::span<const HeapLevel> levels) noexcept;
  void end_by_itself(EndReason reason, const std::string& text) noexcept;
  LossSum take_streamless() noexcept;
  void take_time_samples();  // recording_time.cpp
  void write_time_samples();
  std::uint32_t time_stream_of(std::uint64_t thread_id);
  [[nodiscard]] Account account() noexcept;
  [[nodiscard]] std::size_t memory_bytes() noexcept;

  /// Numbers of recordings, while one runs; else 0.
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<std::size_t> interval_{0};
  std::uint32_t last_generation_ = 0;
  TimeSource time_;
  BufferPool pool_;
  StreamTable streams_;
  Definitions definitions_;
  RecorderOptions options_;
  NativeStacks native_ = NativeStacks::kFramePointers;

  platform::RankedMutex control_{platform::LockRank::kProfileControl, "profile control"};
  platform::RankedMutex writer_mutex_{platform::LockRank::kProfileWriter, "profile writer"};
  std::atomic<std::uint32_t> writer_mutex_wanted_{0};
  ChunkFile file_;
  IntervalControl interval_control_;
  platform::JoinedThread writer_;
  std::atomic<std::uint32_t> wake_{0};
  std::atomic<bool> writer_waits_{false};
  std::atomic<bool> leave_{false};
  bool is_prepared_ = false;
  bool is_ending_ = false;  // every buffer is taken, and waited for
  bool is_flushing_ = false;
  bool was_recording_ = false;  // in the child of a fork
  std::uint64_t loader_generation_ = 0;
  NewModules new_modules_;
  PerfMap perf_map_;
  TimeSampler time_sampler_;
  struct TimeEvents {
    std::vector<std::uint8_t> payload;
    std::int64_t last_ns = 0;
  };
  std::unordered_map<std::uint32_t, TimeEvents> time_events_;      // by stream, not yet in the file
  std::unordered_map<std::uint64_t, std::uint32_t> time_streams_;  // of threads without a stream
  std::uint64_t code_seen_ = 0;
  std::uint64_t last_tick_ns_ = 0;
  std::uint64_t cpu_at_start_ns_ = 0;
  std::atomic<std::uint64_t> writing_cpu_ns_{0};
  RecorderStatus status_;          // of what has ended; under writer_mutex_
  std::uint64_t lost_before_ = 0;  // of streams that are free again, and without a stream
  std::uint64_t measured_before_ns_ = 0;
  std::uint64_t samples_before_ = 0;
  LossSum streamless_;  // for want of a stream, not yet in the file; under definitions_.mutex()
  std::function<void(std::size_t)> tell_interval_;
  std::function<std::vector<HeapLevel>()> ask_levels_;
};

}  // namespace fallow::profile
