#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/split_mix.h"

namespace fallow::telemetry {

/// The chance that an object of `bytes` is sampled: 1 − exp(−bytes/interval). Both at least 1.
[[nodiscard]] double inclusion_probability(std::uint64_t bytes,
                                           std::uint64_t interval_bytes) noexcept;

/// Decides which allocations are sampled: every byte is chosen with probability 1/interval.
///
/// Gaps between chosen bytes are geometric, so that a gap may be dropped and drawn again at any
/// moment, as long as the decision to drop it does not depend on the gap. One thread at a time;
/// sequences are the same for the same seed.
class ByteSampler {
 public:
  /// A gap that no address space can hold.
  static constexpr std::uint64_t kForever = std::uint64_t{1} << 62;

  /// An interval of 0 samples nothing.
  explicit constexpr ByteSampler(std::uint64_t seed = 0, std::size_t interval_bytes = 0) noexcept
      : random_(seed), interval_(interval_bytes) {}

  [[nodiscard]] std::size_t interval_bytes() const noexcept { return interval_; }
  [[nodiscard]] bool is_active() const noexcept { return interval_ != 0; }
  void set_interval(std::size_t bytes) noexcept { interval_ = bytes; }

  /// Bytes from here to the end of the next chosen byte: 1, 2, … or kForever. P(gap > z) is
  /// exp(−z/interval).
  [[nodiscard]] std::uint64_t next_gap() noexcept;

  /// Whether an allocation that stands for itself, outside of any bump area, is sampled.
  [[nodiscard]] bool chooses(std::size_t bytes) noexcept { return next_gap() <= bytes; }

 private:
  platform::SplitMix64 random_;
  std::size_t interval_;
};

}  // namespace fallow::telemetry
