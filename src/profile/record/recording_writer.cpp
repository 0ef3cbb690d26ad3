// The part of Recording that writes.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>

#include "platform/clock.h"
#include "platform/futex.h"
#include "platform/loaded_modules.h"
#include "platform/resident.h"
#include "profile/format/encoding.h"
#include "profile/record/file_header.h"
#include "profile/record/perf_map.h"
#include "profile/record/recording.h"

namespace fallow::profile {

namespace {
constexpr std::uint64_t kTickNs = 1'000'000'000;
/// The slots of time samples are emptied so often.
constexpr std::uint64_t kTimeSlotsNs = 20'000'000;
}  // namespace

void Recording::run_writer(void* recording) {
  thread_context.inside = 1;  // for good: what this thread allocates is the recorder's own
  static_cast<Recording*>(recording)->write_until_told();
}

void Recording::write_until_told() noexcept {
  std::uint64_t flushed_ns = platform::monotonic_ns();
  while (!leave_.load()) {
    wait_for_work(flushed_ns);
    if (leave_.load()) return;
    const std::uint64_t now = platform::monotonic_ns();
    const bool due = now - flushed_ns >= options_.flush_interval_ns;
    const bool tick_due = now - last_tick_ns_ >= kTickNs;
    std::vector<HeapLevel> levels;
    if (tick_due && ask_levels_) levels = ask_levels_();
    if (due) flushed_ns = now;
    while (writer_mutex_wanted_.load() != 0) sched_yield();
    {
      const std::lock_guard lock(writer_mutex_);
      if (!is_recording()) return;
      drain(due);
      if (tick_due) tick(levels);
      writing_cpu_ns_.store(platform::thread_cpu_ns(), std::memory_order_relaxed);
    }
    // Tells at every tick: cheap when nothing has changed, and heaps may have come meanwhile.
    if (tick_due && tell_interval_) tell_interval_(interval_bytes());
  }
}

void Recording::wait_for_work(std::uint64_t flushed_ns) noexcept {
  const std::uint32_t seen = wake_.load();
  writer_waits_.store(true);
  // Whatever came before this is seen here, and what comes after it wakes.
  const std::uint64_t passed = platform::monotonic_ns() - flushed_ns;
  if (!pool_.has_submitted() && !leave_.load() && passed < options_.flush_interval_ns) {
    std::uint64_t wait_ns = options_.flush_interval_ns - passed;
    if (time_sampler_.is_on()) wait_ns = std::min(wait_ns, kTimeSlotsNs);
    platform::futex_wait(wake_, seen, wait_ns);
  }
  writer_waits_.store(false);
}

void Recording::take_buffers(bool everything) noexcept {
  const std::int64_t now = time_.now();
  streams_.for_each([&](Stream& stream) {
    if (everything) {
      stream.acquire_from_outside();
    } else if (!stream.try_acquire()) {
      return;  // next time
    }
    const bool told = stream.write_losses(pool_, now);
    if (stream.buffer != nullptr) {
      pool_.submit(stream.buffer);
      stream.buffer = nullptr;
    }
    const bool gone = stream.ended && stream.in_use.load() && told;
    if (gone) {
      samples_before_ += stream.sequence.get();
      lost_before_ += stream.lost.get();
      measured_before_ns_ += stream.measured_ns.get();
      streams_.free(&stream);
    }
    stream.release();
  });
}

void Recording::drain(bool everything) noexcept {
  EventBuffer* buffers = nullptr;
  try {
    time_.calibrate();
    if (everything || pool_.is_short() || streams_.is_crowded())
      take_buffers(is_ending_ || is_flushing_);
    take_time_samples();
    buffers = pool_.collect();
    write_definitions();
    write_events(buffers);
    if (everything) write_time_samples();
    file_.flush();
  } catch (const std::exception& error) {
    while (buffers != nullptr) {
      EventBuffer* const next = buffers->next;
      pool_.give_back(buffers);
      buffers = next;
    }
    end_by_itself(EndReason::kDisk, error.what());
    return;
  }
  if (file_.problem() != ChunkFile::Problem::kNone) {
    const bool full = file_.problem() == ChunkFile::Problem::kSizeLimit;
    end_by_itself(full ? EndReason::kSizeLimit : EndReason::kDisk, file_.problem_text());
  }
}

void Recording::write_definitions() {
  std::vector<platform::LoadedModule> modules;
  const std::uint64_t generation = platform::loader_generation();
  if (generation != loader_generation_) {
    modules = new_modules_.since_last(platform::loaded_modules());
    loader_generation_ = generation;
  }
  std::vector<CodeRange> code = FunctionRegistry::instance().code_since(code_seen_);
  perf_map_.read_new(code);
  definitions_.write(modules, code, time_.now(),
                     [this](const std::uint8_t* payload, std::size_t bytes) {
                       file_.add(ChunkKind::kDefinitions, 0, payload, bytes);
                     });
}

void Recording::write_events(EventBuffer*& buffers) {
  while (buffers != nullptr) {
    EventBuffer* const buffer = buffers;
    if (buffer->used != 0) {
      file_.add(ChunkKind::kEvents, buffer->stream, buffer->bytes.data(), buffer->used);
    }
    buffers = buffer->next;
    pool_.give_back(buffer);
  }
}

Recording::Account Recording::account() noexcept {
  Account sum{samples_before_, lost_before_, measured_before_ns_};
  streams_.for_each([&](const Stream& stream) {
    if (!stream.in_use.load()) return;
    sum.samples += stream.sequence.get();
    sum.lost += stream.lost.get();
    sum.measured_ns += stream.measured_ns.get();
  });
  return sum;
}

std::size_t Recording::memory_bytes() noexcept {
  const std::lock_guard lock(definitions_.mutex());
  return definitions_.memory_bytes() + pool_.memory_bytes() + streams_.memory_bytes() +
         file_.memory_bytes();
}

void Recording::write_process_events(std::span<const HeapLevel> levels) {
  std::vector<std::uint8_t> payload((levels.size() + 3) * (kMaxRecordHead + 8 * kMaxVarintBytes));
  std::uint8_t* at = payload.data();
  std::int64_t last = 0;
  const auto event = [&](EventTag tag, auto&& write) {
    const std::int64_t now = time_.now();
    at = put_record(at, tag,
                    [&](std::uint8_t* body) { return write(put_signed(body, now - last)); });
    last = now;
  };
  std::size_t used = 0;
  std::size_t committed = 0;
  for (const HeapLevel& level : levels) {
    used += level.used_bytes;
    committed += level.committed_bytes;
    event(EventTag::kLevel, [&](std::uint8_t* body) {
      body = put_varint(put_varint(body, level.heap), level.used_bytes);
      return put_varint(put_varint(body, level.committed_bytes), 0);
    });
  }
  event(EventTag::kLevel, [&](std::uint8_t* body) {
    body = put_varint(put_varint(body, 0), used);
    return put_varint(put_varint(body, committed), platform::resident_bytes());
  });
  const LossSum streamless = take_streamless();
  if (streamless.samples != 0) {
    event(EventTag::kLost, [&](std::uint8_t* body) {
      body = put_varint(body, streamless.samples);
      body = put_varint(body, static_cast<std::uint64_t>(std::llround(streamless.bytes)));
      body = put_varint(body, static_cast<std::uint64_t>(std::llround(streamless.objects)));
      return put_varint(body, static_cast<std::uint64_t>(LossReason::kNoMemory));
    });
  }
  const Account sum = account();
  event(EventTag::kSelf, [&](std::uint8_t* body) {
    body = put_varint(put_varint(body, sum.samples), sum.lost);
    body = put_varint(put_varint(body, sum.measured_ns), writing_cpu_ns_.load());
    body = put_varint(put_varint(body, memory_bytes()), file_.size());
    return put_varint(body, platform::process_cpu_ns() - cpu_at_start_ns_);
  });
  file_.add(ChunkKind::kEvents, 0, payload.data(), static_cast<std::size_t>(at - payload.data()));
}

LossSum Recording::take_streamless() noexcept {
  const std::lock_guard lock(definitions_.mutex());
  const LossSum sum = streamless_;
  streamless_ = {};
  lost_before_ += sum.samples;
  return sum;
}

void Recording::tick(std::span<const HeapLevel> levels) noexcept {
  last_tick_ns_ = platform::monotonic_ns();
  if (!file_.is_open()) return;
  try {
    write_process_events(levels);
    file_.flush();
  } catch (const std::bad_alloc&) {
    return;  // the next one may have memory
  }
  const Account sum = account();
  interval_control_.update({sum.measured_ns + writing_cpu_ns_.load(),
                            platform::process_cpu_ns() - cpu_at_start_ns_, file_.size()});
  if (is_recording()) {
    interval_.store(interval_control_.interval_bytes(), std::memory_order_relaxed);
  }
}

void Recording::end_by_itself(EndReason reason, const std::string& text) noexcept {
  generation_.store(0);
  interval_.store(0, std::memory_order_relaxed);
  time_sampler_.stop();
  finish(reason, text);
}

void Recording::finish(EndReason reason, const std::string& text) noexcept {
  try {
    status_.error = text;
    const std::int64_t now = time_.now();
    std::uint8_t payload[kMaxRecordHead + 2 * kMaxVarintBytes];
    const std::uint8_t* const end = put_record(payload, EventTag::kEnd, [&](std::uint8_t* body) {
      return put_varint(put_signed(body, now), static_cast<std::uint64_t>(reason));
    });
    file_.add_last(payload, static_cast<std::size_t>(end - payload));
    if (status_.error.empty()) status_.error = file_.problem_text();
  } catch (const std::bad_alloc&) {
    status_.error.clear();  // the file lacks its End, and is complete otherwise
  }
  fill_figures(status_);
  const bool failed = file_.problem() == ChunkFile::Problem::kDisk || reason == EndReason::kDisk;
  status_.state = failed                            ? RecorderStatus::State::kFailed
                  : reason == EndReason::kSizeLimit ? RecorderStatus::State::kSizeLimit
                                                    : RecorderStatus::State::kStopped;
  file_.close();
  status_.file_bytes = file_.size();
}

}  // namespace fallow::profile
