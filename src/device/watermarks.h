#pragma once

#include <cstdint>
#include <optional>

#include "fallow/pressure.h"

namespace fallow::device::detail {

/// When responders are called although nothing has failed. A mark acts once and again only after
/// use has fallen below it, or risen by another 32nd of the capacity, and never so often that the
/// calls take more than their share of the time.
class Watermarks {
 public:
  static constexpr std::uint64_t kOff = UINT64_MAX;

  Watermarks(std::uint64_t capacity, double soft, double hard, double share) noexcept
      : soft_(soft > 0 ? part(capacity, soft) : kOff),
        hard_(hard > 0 ? part(capacity, hard) : kOff),
        step_(capacity / 32),
        share_(share) {}

  /// The lower mark; kOff when there is none.
  [[nodiscard]] std::uint64_t lowest() const noexcept { return soft_ < hard_ ? soft_ : hard_; }
  /// Bytes above the mark of this level.
  [[nodiscard]] std::uint64_t excess(PressureLevel level, std::uint64_t used) const noexcept {
    const std::uint64_t mark = level == PressureLevel::kSoft ? soft_ : hard_;
    return used > mark ? used - mark : 0;
  }
  /// The level to act on, if any.
  [[nodiscard]] std::optional<PressureLevel> due(std::uint64_t used,
                                                 std::uint64_t now_ns) const noexcept {
    if (now_ns < quiet_until_ns_ || used < next_) return std::nullopt;
    if (used > hard_) return PressureLevel::kHard;
    if (used > soft_) return PressureLevel::kSoft;
    return std::nullopt;
  }
  /// After the calls: what is in use now, and how long they took.
  void note_pass(std::uint64_t used, std::uint64_t ns, std::uint64_t now_ns) noexcept {
    next_ = used > lowest() ? used + step_ : 0;
    quiet_until_ns_ = now_ns + static_cast<std::uint64_t>(static_cast<double>(ns) / share_);
  }
  void note_free(std::uint64_t used) noexcept {
    if (used <= lowest()) next_ = 0;
  }

 private:
  static std::uint64_t part(std::uint64_t capacity, double fraction) noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(capacity) * fraction);
  }

  const std::uint64_t soft_;
  const std::uint64_t hard_;
  const std::uint64_t step_;
  const double share_;
  std::uint64_t next_ = 0;
  std::uint64_t quiet_until_ns_ = 0;
};

}  // namespace fallow::device::detail
