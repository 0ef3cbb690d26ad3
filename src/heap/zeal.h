#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/split_mix.h"

namespace fallow::detail {

/// When the diagnostic mode "zeal" collects: after gaps of random length, n allocations on average,
/// from a seed, so that a run can be repeated. Pacing: the work of each forced collection lengthens
/// the next gap, so that a program with a large live heap still gets somewhere.
class ZealSchedule {
 public:
  ZealSchedule() = default;
  /// `every` = 0: off.
  ZealSchedule(std::size_t every, std::uint64_t seed) noexcept;

  enum class Action : std::uint8_t { kNone, kMinor, kFull };

  [[nodiscard]] bool active() const noexcept { return every_ != 0; }
  /// One allocation; says whether to collect before it.
  Action tick() noexcept;
  /// A forced collection copied or marked so many bytes.
  void paid(std::size_t bytes) noexcept;

 private:
  void draw_gap() noexcept;

  std::size_t every_ = 0;
  platform::SplitMix64 random_{0};
  std::size_t gap_ = 0;
};

}  // namespace fallow::detail
