#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profile/format/encoding.h"
#include "profile/format/recording_format.h"
#include "profile/record/event_buffer.h"
#include "profile/record/stack_walk.h"

namespace fallow::profile {

/// Samples that are not in the file, and what they stand for.
struct LossSum {
  std::uint64_t samples = 0;
  double bytes = 0;
  double objects = 0;

  /// A sample of an allocation, taken with this interval.
  void add(std::size_t allocated_bytes, std::size_t interval_bytes) noexcept;
};
inline constexpr std::size_t kLossReasons = 6;  // LossReason begins at 1
using LossSums = std::array<LossSum, kLossReasons>;

/// A figure that one thread at a time adds to, and any thread may read: no locked instruction.
class OwnCounter {
 public:
  void add(std::uint64_t amount) noexcept { set(get() + amount); }
  void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// The events of one thread on their way into the file.
///
/// Everything is used under `busy`: by its thread while it records something, and by the writer
/// while it takes the buffer away. Streams are never freed, so that a late thread finds one.
struct Stream {
  static constexpr std::size_t kCacheSlots = 1024;
  struct CacheSlot {
    std::uint64_t hash;
    std::uint32_t node;
  };

  std::atomic<std::uint32_t> busy{0};
  /// Somebody else waits for it: its thread, which may come back at once, lets that one in.
  std::atomic<std::uint32_t> wanted{0};
  /// Its thread has ended: after the buffer has been taken, the stream is free.
  bool ended = false;
  std::atomic<bool> in_use{false};
  std::uint32_t number = 0;
  std::uint32_t generation = 0;
  EventBuffer* buffer = nullptr;
  OwnCounter sequence;  ///< of the last sample
  std::size_t interval_bytes = 0;
  std::uint32_t epoch = 0;  ///< of interval_bytes
  OwnCounter lost;          ///< in all
  OwnCounter measured_ns;   ///< inside samples, an estimate
  LossSums losses{};        ///< not yet in the file
  RootAnchor anchor;
  Stream* next_free = nullptr;
  std::array<CacheSlot, kCacheSlots> cache;

  bool try_acquire() noexcept { return busy.exchange(1, std::memory_order_acquire) == 0; }
  /// For its own thread: waits while the writer takes the buffer.
  void acquire() noexcept {
    if (wanted.load(std::memory_order_relaxed) != 0) give_way();
    if (!try_acquire()) wait_and_acquire();
  }
  /// For others: waits for the thread to finish one event.
  void acquire_from_outside() noexcept;
  void release() noexcept { busy.store(0, std::memory_order_release); }

  void wait_and_acquire() noexcept;
  static void give_way() noexcept;
  /// For a new thread.
  void reset(std::uint32_t new_number, std::uint32_t new_generation) noexcept;

  /// Room for a record with a body of at most `most` bytes, in a buffer that may be a new one; null
  /// when there is none.
  std::uint8_t* room(BufferPool& pool, std::size_t most, bool* filled_one) noexcept;

  /// Appends a record of an event at `now_ns`; `write` appends what follows the time. `at` is what
  /// room() gave.
  template <class Write>
  void append(std::uint8_t* at, EventTag tag, std::int64_t now_ns, Write&& write) noexcept {
    const std::int64_t delta = now_ns - buffer->last_ns;
    buffer->last_ns = now_ns;
    std::uint8_t* const end =
        put_record(at, tag, [&](std::uint8_t* body) { return write(put_signed(body, delta)); });
    buffer->used = static_cast<std::uint32_t>(end - buffer->bytes.data());
  }

  void note_loss(LossReason reason, std::size_t bytes, std::size_t interval) noexcept;
  /// Makes events of the losses. False when there is no buffer for them.
  bool write_losses(BufferPool& pool, std::int64_t now_ns) noexcept;
};

/// All streams of the process, for the threads of one recording after the other. Thread-safe.
class StreamTable {
 public:
  static constexpr std::size_t kMaxStreams = 1024;

  [[nodiscard]] bool allocate() noexcept;
  /// Takes back all streams: for a new recording, or in the child of a fork, where the other
  /// threads are gone. Numbers go on.
  void reset(bool others_are_gone) noexcept;
  /// Null when so many threads have one already.
  Stream* open(std::uint32_t generation) noexcept;
  void free(Stream* stream) noexcept;
  /// The number of a stream that no Stream stands for.
  std::uint32_t new_number() noexcept;

  /// Those that have ever been used.
  template <class Visit>
  void for_each(Visit&& visit) noexcept {
    const std::size_t count = fresh_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) visit(streams_[i]);
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return fresh_.load(std::memory_order_relaxed) * sizeof(Stream);
  }
  /// Fewer than half are left.
  [[nodiscard]] bool is_crowded() const noexcept {
    return used_.load(std::memory_order_relaxed) > kMaxStreams / 2;
  }
  platform::RankedMutex& mutex() noexcept { return mutex_; }

 private:
  platform::RankedMutex mutex_{platform::LockRank::kProfileStreams, "profile streams"};
  LazyMemory<Stream> streams_;
  std::atomic<std::size_t> fresh_{0};
  std::atomic<std::size_t> used_{0};
  Stream* free_ = nullptr;
  std::uint32_t last_number_ = 0;
};

}  // namespace fallow::profile
