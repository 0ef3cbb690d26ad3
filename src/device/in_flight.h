#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "device/block.h"
#include "fallow/device_types.h"

namespace fallow::device::detail {

/// Work of a stream, up to a number.
struct StreamPoint {
  StreamId stream = 0;
  std::uint64_t number = 0;
};

/// An allocation that was given back, and the work that must be done before it is used again.
struct StreamFree {
  static constexpr std::size_t kMostPoints = 4;
  Block* head = nullptr;
  std::array<StreamPoint, kMostPoints> points{};
  std::size_t point_count = 0;
  StreamFree* next = nullptr;
};

/// What is known of some streams: everything up to the number is done.
struct StreamProgress {
  static constexpr std::size_t kMost = 64;
  std::array<StreamPoint, kMost> points{};
  std::size_t count = 0;

  [[nodiscard]] const StreamPoint* find(StreamId stream) const noexcept;
  /// Adds a stream that is not known yet, if there is room.
  void add(StreamId stream) noexcept;
};

/// Frees that wait for streams, in the order in which they came. Belongs to the holder of the
/// device's mutex. Asking the backend is left to others, since it needs no mutex.
class InFlight {
 public:
  InFlight() = default;
  ~InFlight();
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  /// Owns it from now on.
  void push(StreamFree* item) noexcept;
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  /// The streams that are waited for; some of them when there are very many.
  [[nodiscard]] StreamProgress streams() const noexcept;
  /// Work that the oldest waits for. Only if not empty.
  [[nodiscard]] StreamPoint oldest() const noexcept { return first_->points[0]; }
  /// Forgets work that is done, and removes those that wait for nothing more: they are returned,
  /// linked by next, and belong to the caller. O(items).
  StreamFree* take_done(const StreamProgress& progress) noexcept;

 private:
  StreamFree* first_ = nullptr;
  StreamFree* last_ = nullptr;
};

}  // namespace fallow::device::detail
