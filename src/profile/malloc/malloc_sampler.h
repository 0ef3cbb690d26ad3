#pragma once

#include <cstddef>
#include <cstdint>

#include "telemetry/byte_sampler.h"

namespace fallow::profile {

/// Decides for one thread which of its blocks are sampled. What is not sampled costs a subtraction
/// and a comparison.
///
/// Each byte asked for is chosen with probability 1/interval. The distance to the next chosen byte
/// is drawn again after at most kLongestWait bytes, at which a change of the interval is seen.
class MallocSampler {
 public:
  static constexpr std::int64_t kLongestWait = std::int64_t{256} << 10;

  /// Whether the block is passed over. If not, is_chosen() has to be asked.
  bool passes(std::size_t bytes) noexcept {
    left_ -= static_cast<std::int64_t>(bytes);
    return left_ >= 0;
  }
  /// After passes() has said no for this block. `interval` is the one to go on with, 0 for none.
  bool is_chosen(std::size_t interval, std::uint64_t seed) noexcept;
  /// That is_chosen() has decided by.
  [[nodiscard]] std::size_t interval_bytes() const noexcept { return decided_; }

 private:
  void draw(std::size_t interval, std::uint64_t seed) noexcept;

  std::int64_t left_ = 0;         // bytes up to and without the next point
  bool point_is_chosen_ = false;  // the byte at the point: else it only ends the wait
  bool has_seed_ = false;
  std::size_t decided_ = 0;
  telemetry::ByteSampler sampler_;
};

}  // namespace fallow::profile
