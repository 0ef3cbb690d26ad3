#include "device/host_streams.h"

#include <algorithm>
#include <mutex>

namespace fallow::device::detail {

std::uint64_t HostStreams::push(StreamId stream, const Piece& piece) {
  const std::scoped_lock lock(mutex_);
  Stream& each = streams_[stream];
  if (each.pieces.empty()) each.ready_at = Clock::now();
  each.pieces.push_back(piece);
  return ++each.submitted;
}

std::uint64_t HostStreams::submit(StreamId stream, std::chrono::nanoseconds duration) {
  return push(stream, {duration, false});
}

std::uint64_t HostStreams::submit_held(StreamId stream) {
  return push(stream, {std::chrono::nanoseconds(0), true});
}

void HostStreams::advance(StreamId stream, std::uint64_t count) {
  const std::scoped_lock lock(mutex_);
  for (Piece& piece : streams_[stream].pieces) {
    if (count == 0) break;
    if (piece.held) {
      piece.held = false;
      --count;
    }
  }
  advanced_.notify_all();
}

Clock::time_point HostStreams::update(Stream& stream, Clock::time_point now) noexcept {
  while (!stream.pieces.empty()) {
    const Piece& piece = stream.pieces.front();
    if (piece.held) return Clock::time_point::max();
    const Clock::time_point end = stream.ready_at + piece.duration;
    if (end > now) return end;
    stream.ready_at = end;
    stream.pieces.pop_front();
    ++stream.completed;
  }
  return Clock::time_point::max();
}

std::uint64_t HostStreams::submitted(StreamId stream) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = streams_.find(stream);
  return found == streams_.end() ? 0 : found->second.submitted;
}

std::uint64_t HostStreams::completed(StreamId stream) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return 0;
  update(found->second, Clock::now());
  return found->second.completed;
}

bool HostStreams::wait(StreamId stream, std::uint64_t number, Clock::time_point deadline) noexcept {
  std::unique_lock lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return number == 0;
  for (;;) {
    const Clock::time_point now = Clock::now();
    const Clock::time_point next = update(found->second, now);
    if (found->second.completed >= number) return true;
    if (now >= deadline) return false;
    // The end of time overflows in the kernel's arithmetic.
    const Clock::time_point limit = std::min(deadline, now + std::chrono::hours(1));
    advanced_.wait_until(lock, std::min(next, limit));
  }
}

}  // namespace fallow::device::detail
