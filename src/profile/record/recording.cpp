#include "profile/record/recording.h"

#include <algorithm>
#include <array>

#include "platform/fast_unwind.h"
#include "platform/futex.h"
#include "platform/stack_bounds.h"
#include "platform/thread_exit.h"
#include "platform/thread_id.h"
#include "platform/thread_name.h"
#include "profile/record/sample_id.h"
#include "profile/record/stack_walk.h"

namespace fallow::profile {

namespace {

/// One sample in so many is timed, and stands for the others.
constexpr std::uint64_t kTimedShare = 64;
/// What takes longer has been interrupted.
constexpr std::int64_t kLongestTimedNs = 20'000;
/// Fates a record: keeps its body far below a buffer.
constexpr std::size_t kBatch = 512;
/// Of a stack.
constexpr std::size_t kMostCopied = std::size_t{16} << 10;
constexpr std::size_t kFateBytes = 5 + 6 + 5;

platform::ThreadExit thread_exit;

}  // namespace

/// The calling thread's stream, acquired, while a recording runs; else false.
class Recording::StreamUse {
 public:
  explicit StreamUse(Recording& recording) noexcept {
    ThreadContext& context = thread_context;
    const std::uint32_t generation = recording.generation_.load(std::memory_order_acquire);
    if (generation == 0) return;
    Stream* stream = context.stream;
    if (stream == nullptr || context.generation != generation) {
      stream = recording.open_stream(context, generation);
      if (stream == nullptr) {
        streamless_ = true;
        return;
      }
    }
    stream->acquire();
    // stop() goes through all streams after it has changed the generation.
    if (recording.generation_.load(std::memory_order_relaxed) == generation) {
      stream_ = stream;
    } else {
      stream->release();
    }
  }
  ~StreamUse() {
    if (stream_ != nullptr) stream_->release();
  }
  StreamUse(const StreamUse&) = delete;
  StreamUse& operator=(const StreamUse&) = delete;

  explicit operator bool() const noexcept { return stream_ != nullptr; }
  Stream* operator->() const noexcept { return stream_; }
  Stream& operator*() const noexcept { return *stream_; }
  [[nodiscard]] bool is_streamless() const noexcept { return streamless_; }

 private:
  Stream* stream_ = nullptr;
  bool streamless_ = false;
};

Recording& Recording::instance() noexcept {
  static Recording* const recording = new Recording;
  return *recording;
}

Recording::Recording() {
  thread_exit.create([](void* stream) { instance().thread_ended(*static_cast<Stream*>(stream)); });
}

Stream* Recording::open_stream(ThreadContext& context, std::uint32_t generation) noexcept {
  Stream* const stream = streams_.open(generation);
  if (stream == nullptr) return nullptr;
  if (context.own_stack_high == 0) {
    const platform::StackBounds bounds = platform::current_stack_bounds();
    context.own_stack_low = bounds.low;
    context.own_stack_high = bounds.high;
  }
  if (context.stack_high == 0) {
    context.stack_low = context.own_stack_low;
    context.stack_high = context.own_stack_high;
  }
  context.stream = stream;
  context.generation = generation;
  if (!thread_exit.watch(stream)) {
    // Without memory for the watch the stream would never come back.
    streams_.free(stream);
    context.stream = nullptr;
    return nullptr;
  }
  void* warm_up = nullptr;  // an unwinder's first use allocates
  if (native_ == NativeStacks::kFast) platform::fast_unwind(&warm_up, 1);
  const platform::ThreadName name = platform::current_thread_name();
  const std::lock_guard lock(definitions_.mutex());
  definitions_.add_thread(stream->number, platform::current_thread_id(), name.text, time_.now());
  return stream;
}

void Recording::thread_ended(Stream& stream) noexcept {
  const InsideProfile inside;
  thread_context.stream = nullptr;
  stream.acquire();
  if (thread_context.generation != generation_.load(std::memory_order_acquire)) {
    stream.release();  // it is another thread's by now
    return;
  }
  // What is left is taken by the writer, which then frees the stream.
  stream.ended = true;
  stream.release();
  if (streams_.is_crowded()) wake_writer();
}

void Recording::wake_writer() noexcept {
  if (!writer_waits_.exchange(false)) return;
  wake_.fetch_add(1);
  platform::futex_wake_all(wake_);
}

std::uint32_t Recording::interned(Stream& stream, const StackTrace& trace) noexcept {
  if (trace.depth() == 0) return 0;
  const std::uint64_t hash = trace.hash();
  Stream::CacheSlot& slot = stream.cache[hash >> 54];
  static_assert(Stream::kCacheSlots == std::size_t{1} << (64 - 54));
  if (slot.hash != hash) {
    const std::lock_guard lock(definitions_.mutex());
    slot.node = definitions_.node_of(trace);
    slot.hash = hash;
  }
  return slot.node;
}

std::uint32_t Recording::node_of(Stream& stream, const void* caller) noexcept {
  StackTrace trace;
  const Frame* const embedded = Frame::innermost();
  if (native_ == NativeStacks::kFramePointers) {
    const auto frame = reinterpret_cast<std::uintptr_t>(caller);
    const ThreadContext& context = thread_context;
    const bool on_stack = frame >= context.stack_low && frame < context.stack_high;
    const ReadableStack stack{frame, on_stack ? context.stack_high : frame + 2 * sizeof(void*)};
    walk_frames(frame, stack, embedded, on_stack ? &stream.anchor : nullptr, trace);
  } else if (native_ == NativeStacks::kFast) {
    walk_fast(reinterpret_cast<std::uintptr_t>(caller), embedded, trace);
  } else {
    walk_embedded(embedded, trace);
  }
  return interned(stream, trace);
}

bool Recording::append_sample(Stream& stream, const AllocationSample& sample, std::uint32_t node,
                              std::int64_t now_ns) noexcept {
  if (sample.interval_bytes != stream.interval_bytes || stream.epoch == 0) {
    const std::lock_guard lock(definitions_.mutex());
    stream.epoch = definitions_.epoch_of(sample.interval_bytes, now_ns);
    stream.interval_bytes = sample.interval_bytes;
  }
  bool filled = false;
  std::uint8_t* const at = stream.room(pool_, 6 * kMaxVarintBytes, &filled);
  if (filled || at == nullptr) wake_writer();
  if (at == nullptr) return false;
  stream.sequence.add(1);
  stream.append(at, EventTag::kSample, now_ns, [&](std::uint8_t* body) {
    body = put_varint(body, stream.sequence.get());
    body = put_varint(body, node);
    body = put_varint(body, sample.bytes);
    body = put_varint(body, stream.epoch);
    *body++ = static_cast<std::uint8_t>(sample.route);
    *body++ = 0;  // the type is told later
    return body;
  });
  return true;
}

void Recording::append_copy(Stream& stream, const void* caller, std::int64_t now_ns) noexcept {
  const ThreadContext& context = thread_context;
  const auto frame = reinterpret_cast<std::uintptr_t>(caller);
  if (frame < context.stack_low || frame >= context.stack_high) return;
  const std::uintptr_t start = frame + 2 * sizeof(void*);  // as it is after the return
  const std::size_t bytes = std::min<std::size_t>(context.stack_high - start, kMostCopied);
  bool filled = false;
  std::uint8_t* const at = stream.room(pool_, 4 * kMaxVarintBytes + bytes, &filled);
  if (filled || at == nullptr) wake_writer();
  if (at == nullptr) return;
  stream.append(at, EventTag::kStack, now_ns, [&](std::uint8_t* body) {
    const ReturnPoint point = return_point(frame);
    body = put_varint(put_varint(body, stream.sequence.get()), start);
    body = put_varint(put_varint(body, point.frame), point.instruction);
    return copy_stack(body, start, bytes);
  });
}

SampleId Recording::take(const AllocationSample& sample, const void* caller) noexcept {
  if (thread_context.inside != 0) return 0;
  const InsideProfile inside;
  const StreamUse stream(*this);
  if (!stream) {
    if (stream.is_streamless()) note_streamless(sample);
    return 0;
  }
  const std::int64_t now = time_.now();
  const std::uint32_t node = node_of(*stream, caller);
  if (!append_sample(*stream, sample, node, now)) {
    stream->note_loss(LossReason::kNoBuffer, sample.bytes, sample.interval_bytes);
    return 0;
  }
  if (native_ == NativeStacks::kCopy) append_copy(*stream, caller, now);
  if (stream->sequence.get() % kTimedShare == 1) {
    const std::int64_t took = std::clamp<std::int64_t>(time_.now() - now, 0, kLongestTimedNs);
    stream->measured_ns.add(kTimedShare * static_cast<std::uint64_t>(took));
  }
  return make_sample_id(stream->number, stream->sequence.get());
}

void Recording::note_streamless(const AllocationSample& sample) noexcept {
  const std::lock_guard lock(definitions_.mutex());
  streamless_.add(sample.bytes, sample.interval_bytes);
}

template <class Write>
void Recording::note(EventTag tag, std::size_t most, Write&& write) noexcept {
  if (!is_recording()) return;
  const InsideProfile inside;
  const StreamUse stream(*this);
  if (!stream) return;
  const std::int64_t begin = time_.now();
  bool filled = false;
  std::uint8_t* const at = stream->room(pool_, most, &filled);
  if (filled || at == nullptr) wake_writer();
  if (at == nullptr) return;
  stream->append(at, tag, begin, write);
  stream->measured_ns.add(
      static_cast<std::uint64_t>(std::max<std::int64_t>(time_.now() - begin, 0)));
}

void Recording::minor(std::uint64_t heap, std::uint64_t gc,
                      std::span<const SampleFate> fates) noexcept {
  while (!fates.empty()) {
    const auto batch = fates.first(std::min(fates.size(), kBatch));
    fates = fates.subspan(batch.size());
    note(EventTag::kMinor, 3 * kMaxVarintBytes + batch.size() * kFateBytes,
         [&](std::uint8_t* body) {
           body = put_varint(put_varint(put_varint(body, heap), gc), batch.size());
           const std::lock_guard lock(definitions_.mutex());
           for (const SampleFate& fate : batch) {
             const std::uint64_t type = definitions_.type_of(fate.type);
             body = put_varint(body, stream_of(fate.id));
             body = put_varint(body, sequence_of(fate.id));
             body = put_varint(body, type << 2 | static_cast<std::uint64_t>(fate.outcome));
           }
           return body;
         });
  }
}

void Recording::untracked(std::uint64_t heap, std::span<const SampleId> ids) noexcept {
  while (!ids.empty()) {
    const auto batch = ids.first(std::min(ids.size(), kBatch));
    ids = ids.subspan(batch.size());
    note(EventTag::kMinor, 3 * kMaxVarintBytes + batch.size() * kFateBytes,
         [&](std::uint8_t* body) {
           body = put_varint(put_varint(put_varint(body, heap), 0), batch.size());
           for (const SampleId id : batch) {
             body = put_varint(put_varint(body, stream_of(id)), sequence_of(id));
             body = put_varint(body, static_cast<std::uint64_t>(SettledOutcome::kUntracked));
           }
           return body;
         });
  }
}

void Recording::died(std::uint64_t heap, std::uint64_t gc, std::span<const SampleId> ids) noexcept {
  while (!ids.empty()) {
    const auto batch = ids.first(std::min(ids.size(), kBatch));
    ids = ids.subspan(batch.size());
    note(EventTag::kDied, 3 * kMaxVarintBytes + batch.size() * kFateBytes, [&](std::uint8_t* body) {
      body = put_varint(put_varint(put_varint(body, heap), gc), batch.size());
      for (const SampleId id : batch) {
        body = put_varint(put_varint(body, stream_of(id)), sequence_of(id));
      }
      return body;
    });
  }
}

void Recording::pause(std::uint64_t heap, const PauseFacts& facts) noexcept {
  note(EventTag::kPause, 9 * kMaxVarintBytes, [&](std::uint8_t* body) {
    body = put_varint(put_varint(body, heap), static_cast<std::uint64_t>(facts.kind));
    body = put_varint(put_varint(body, facts.wall_ns), facts.cpu_ns);
    body = put_varint(body, facts.number);
    body = put_varint(put_varint(body, facts.bytes_before), facts.bytes_after);
    return put_varint(put_varint(body, facts.state_before), facts.state_after);
  });
}

}  // namespace fallow::profile
