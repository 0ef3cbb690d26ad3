#include "profile/record/stream.h"

#include <sched.h>

#include <cmath>
#include <mutex>

#include "platform/spin.h"
#include "telemetry/byte_sampler.h"

namespace fallow::profile {

void Stream::acquire_from_outside() noexcept {
  wanted.fetch_add(1, std::memory_order_relaxed);
  wait_and_acquire();
  wanted.fetch_sub(1, std::memory_order_relaxed);
}

void Stream::give_way() noexcept { sched_yield(); }

void Stream::wait_and_acquire() noexcept {
  constexpr int kSpins = 200;
  for (int spin = 0; !try_acquire(); ++spin) {
    if (spin < kSpins) {
      platform::spin_pause();
    } else {
      sched_yield();  // the holder has been interrupted
    }
  }
}

void Stream::reset(std::uint32_t new_number, std::uint32_t new_generation) noexcept {
  ended = false;
  number = new_number;
  generation = new_generation;
  buffer = nullptr;
  sequence.set(0);
  interval_bytes = 0;
  epoch = 0;
  lost.set(0);
  measured_ns.set(0);
  losses = {};
  anchor = {};
  cache.fill({0, 0});
}

std::uint8_t* Stream::room(BufferPool& pool, std::size_t most, bool* filled_one) noexcept {
  const std::size_t needed = kMaxRecordHead + kMaxVarintBytes + most;
  if (buffer != nullptr && EventBuffer::kBytes - buffer->used < needed) {
    pool.submit(buffer);
    buffer = nullptr;
    *filled_one = true;
  }
  if (buffer == nullptr) buffer = pool.take(number);
  return buffer == nullptr ? nullptr : buffer->bytes.data() + buffer->used;
}

void LossSum::add(std::size_t allocated_bytes, std::size_t interval_bytes) noexcept {
  const double chance = telemetry::inclusion_probability(allocated_bytes, interval_bytes);
  ++samples;
  objects += 1 / chance;
  bytes += static_cast<double>(allocated_bytes) / chance;
}

void Stream::note_loss(LossReason reason, std::size_t bytes, std::size_t interval) noexcept {
  LossSum& sum = losses[static_cast<std::size_t>(reason)];
  lost.add(1);
  if (interval == 0) {
    ++sum.samples;
  } else {
    sum.add(bytes, interval);
  }
}

bool Stream::write_losses(BufferPool& pool, std::int64_t now_ns) noexcept {
  for (std::size_t reason = 1; reason < kLossReasons; ++reason) {
    LossSum& sum = losses[reason];
    if (sum.samples == 0) continue;
    bool filled = false;
    std::uint8_t* const at = room(pool, 4 * kMaxVarintBytes, &filled);
    if (at == nullptr) return false;
    append(at, EventTag::kLost, now_ns, [&](std::uint8_t* body) {
      body = put_varint(body, sum.samples);
      body = put_varint(body, static_cast<std::uint64_t>(std::llround(sum.bytes)));
      body = put_varint(body, static_cast<std::uint64_t>(std::llround(sum.objects)));
      return put_varint(body, reason);
    });
    sum = {};
  }
  return true;
}

bool StreamTable::allocate() noexcept {
  return streams_.is_allocated() || streams_.allocate(kMaxStreams);
}

void StreamTable::reset(bool others_are_gone) noexcept {
  const std::lock_guard lock(mutex_);
  free_ = nullptr;
  used_.store(0, std::memory_order_relaxed);
  for (std::size_t i = fresh_.load(std::memory_order_relaxed); i-- > 0;) {
    Stream& stream = streams_[i];
    if (!others_are_gone) stream.acquire_from_outside();
    stream.reset(0, 0);
    stream.in_use.store(false);
    stream.next_free = free_;
    free_ = &stream;
    stream.release();
  }
}

Stream* StreamTable::open(std::uint32_t generation) noexcept {
  const std::lock_guard lock(mutex_);
  Stream* stream = free_;
  const std::size_t fresh = fresh_.load(std::memory_order_relaxed);
  if (stream != nullptr) {
    free_ = stream->next_free;
  } else if (fresh < kMaxStreams) {
    stream = &streams_[fresh];
  } else {
    return nullptr;
  }
  stream->acquire();
  stream->reset(++last_number_, generation);
  stream->in_use.store(true);
  used_.fetch_add(1, std::memory_order_relaxed);
  stream->release();
  if (stream == &streams_[fresh]) fresh_.store(fresh + 1, std::memory_order_release);
  return stream;
}

std::uint32_t StreamTable::new_number() noexcept {
  const std::lock_guard lock(mutex_);
  return ++last_number_;
}

void StreamTable::free(Stream* stream) noexcept {
  const std::lock_guard lock(mutex_);
  stream->in_use.store(false);
  used_.fetch_sub(1, std::memory_order_relaxed);
  stream->generation = 0;
  stream->next_free = free_;
  free_ = stream;
}

}  // namespace fallow::profile
