#pragma once

#include <algorithm>
#include <cstdint>

namespace fallow::device::detail {

/// Keeps a program that is out of memory, and tries again and again, from paying for a whole ladder
/// each time.
///
/// After a ladder that failed, no other is climbed for some time that is at least ten times its
/// own, unless enough bytes have been allocated or freed. So ladders that find nothing take at most
/// a tenth of the time. An interval of 0 switches it off.
class Damper {
 public:
  Damper(std::uint64_t interval_ns, std::uint64_t bytes) noexcept
      : interval_ns_(interval_ns), bytes_(bytes) {}

  void note_failure(std::uint64_t began_ns, std::uint64_t now_ns,
                    std::uint64_t moved_bytes) noexcept {
    if (interval_ns_ == 0) return;
    began_ns_ = began_ns;
    quiet_until_ns_ = now_ns + std::max(interval_ns_, kShare * (now_ns - began_ns));
    moved_bytes_ = moved_bytes;
    failed_ = true;
  }
  /// Garbage was found after all.
  void note_success() noexcept { failed_ = false; }

  /// Whether to do without a ladder for a request that arrived at this moment.
  [[nodiscard]] bool damps(std::uint64_t arrived_ns, std::uint64_t now_ns,
                           std::uint64_t moved_bytes) const noexcept {
    if (!failed_ || moved_bytes - moved_bytes_ >= bytes_) return false;
    // What was garbage when the request arrived, the failed ladder had its chance to find.
    return arrived_ns <= began_ns_ || now_ns < quiet_until_ns_;
  }

 private:
  static constexpr std::uint64_t kShare = 10;

  const std::uint64_t interval_ns_;
  const std::uint64_t bytes_;
  bool failed_ = false;
  std::uint64_t began_ns_ = 0;
  std::uint64_t quiet_until_ns_ = 0;
  std::uint64_t moved_bytes_ = 0;
};

}  // namespace fallow::device::detail
