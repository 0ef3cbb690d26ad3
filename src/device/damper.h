#pragma once

#include <algorithm>
#include <cstdint>

namespace fallow::device::detail {

/// What becomes of a request that finds nothing free, before a ladder is climbed for it.
enum class DamperVerdict : std::uint8_t {
  kClimb,
  kWait,  ///< until quiet_until_ns(), and ask again
  kFail,
};

/// Keeps a program that is out of memory, and tries again and again, from spending its time on
/// ladders.
///
/// After a ladder that failed, no other is climbed for some time that is at least four times its
/// own, unless enough bytes have been allocated or freed. So ladders that find nothing take at most
/// a fifth of the time. A request of that time waits for its end: references may have been dropped
/// since the ladder looked, and nobody is told of that. An interval of 0 switches it off.
class Damper {
 public:
  /// The quiet time is at least `interval_ns`, and at most `most_ns` unless that is less.
  Damper(std::uint64_t interval_ns, std::uint64_t most_ns, std::uint64_t bytes) noexcept
      : interval_ns_(interval_ns), most_ns_(std::max(interval_ns, most_ns)), bytes_(bytes) {}

  void note_failure(std::uint64_t began_ns, std::uint64_t now_ns,
                    std::uint64_t moved_bytes) noexcept {
    if (interval_ns_ == 0) return;
    began_ns_ = began_ns;
    quiet_until_ns_ = now_ns + std::clamp(kShare * (now_ns - began_ns), interval_ns_, most_ns_);
    moved_bytes_ = moved_bytes;
    failed_ = true;
  }
  /// Garbage was found after all.
  void note_success() noexcept { failed_ = false; }

  /// For a request that arrived at this moment.
  [[nodiscard]] DamperVerdict judge(std::uint64_t arrived_ns, std::uint64_t now_ns,
                                    std::uint64_t moved_bytes) const noexcept {
    if (!failed_ || moved_bytes - moved_bytes_ >= bytes_) return DamperVerdict::kClimb;
    // What was garbage when the request arrived, the failed ladder had its chance to find.
    if (arrived_ns <= began_ns_) return DamperVerdict::kFail;
    return now_ns < quiet_until_ns_ ? DamperVerdict::kWait : DamperVerdict::kClimb;
  }
  [[nodiscard]] std::uint64_t quiet_until_ns() const noexcept { return quiet_until_ns_; }

 private:
  static constexpr std::uint64_t kShare = 4;

  const std::uint64_t interval_ns_;
  const std::uint64_t most_ns_;
  const std::uint64_t bytes_;
  bool failed_ = false;
  std::uint64_t began_ns_ = 0;
  std::uint64_t quiet_until_ns_ = 0;
  std::uint64_t moved_bytes_ = 0;
};

}  // namespace fallow::device::detail
