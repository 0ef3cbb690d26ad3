#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "platform/ranked_mutex.h"
#include "profile/record/lazy_memory.h"

namespace fallow::profile {

/// The payload of one chunk of events, while it is filled.
struct EventBuffer {
  static constexpr std::size_t kWholeBytes = std::size_t{64} << 10;
  static constexpr std::size_t kBytes = kWholeBytes - 24;

  EventBuffer* next = nullptr;
  std::uint32_t stream = 0;
  std::uint32_t used = 0;
  std::int64_t last_ns = 0;  ///< the time of the last event
  std::array<std::uint8_t, kBytes> bytes;
};
static_assert(sizeof(EventBuffer) == EventBuffer::kWholeBytes);

/// A fixed number of buffers: the free ones, and those that wait to be written, in their order.
///
/// Thread-safe.
class BufferPool {
 public:
  static constexpr std::size_t kBuffers = 256;

  [[nodiscard]] bool allocate() noexcept;
  /// All buffers are free again; nobody may hold one.
  void clear() noexcept;

  /// Null when all are in use.
  EventBuffer* take(std::uint32_t stream) noexcept;
  /// Hands over a buffer that is to be written.
  void submit(EventBuffer* buffer) noexcept;
  /// All that have been submitted, oldest first, linked by `next`.
  EventBuffer* collect() noexcept;
  void give_back(EventBuffer* buffer) noexcept;
  [[nodiscard]] bool has_submitted() noexcept;
  /// Fewer than half are free.
  [[nodiscard]] bool is_short() noexcept;

  /// The most that were in use at once, in bytes of memory.
  [[nodiscard]] std::size_t memory_bytes() noexcept;

  /// Around a fork.
  platform::RankedMutex& mutex() noexcept { return mutex_; }

 private:
  platform::RankedMutex mutex_{platform::LockRank::kProfileBuffers, "profile buffers"};
  LazyMemory<EventBuffer> buffers_;
  std::size_t fresh_ = 0;  // buffers that have never been taken begin here
  std::size_t used_ = 0;
  EventBuffer* free_ = nullptr;
  EventBuffer* first_ = nullptr;
  EventBuffer* last_ = nullptr;
};

}  // namespace fallow::profile
