#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>

#include "fallow/device_types.h"
#include "platform/ranked_mutex.h"

namespace fallow::device::detail {

/// Streams on which time is the only work: each piece ends so long after its predecessor, or when
/// it is told to. Thread-safe.
class HostStreams {
 public:
  std::uint64_t submit(StreamId stream, std::chrono::nanoseconds duration);
  std::uint64_t submit_held(StreamId stream);
  void advance(StreamId stream, std::uint64_t count);

  std::uint64_t submitted(StreamId stream) noexcept;
  std::uint64_t completed(StreamId stream) noexcept;
  bool wait(StreamId stream, std::uint64_t number, Clock::time_point deadline) noexcept;

 private:
  struct Piece {
    std::chrono::nanoseconds duration{0};
    bool held = false;
  };
  struct Stream {
    std::uint64_t submitted = 0;
    std::uint64_t completed = 0;
    std::deque<Piece> pieces;      ///< not completed yet
    Clock::time_point ready_at{};  ///< when the first of them could begin
  };

  std::uint64_t push(StreamId stream, const Piece& piece);
  /// Completes what is due. Returns when the next piece ends; the end of time if it is held.
  static Clock::time_point update(Stream& stream, Clock::time_point now) noexcept;

  platform::RankedMutex mutex_{platform::LockRank::kHostBackend, "host streams"};
  std::condition_variable_any advanced_;
  std::map<StreamId, Stream> streams_;
};

}  // namespace fallow::device::detail
