// Where the random tests get their choices from: a seed, or the bytes of a fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/split_mix.h"

namespace fallow::test {

class Decisions {
 public:
  explicit Decisions(std::uint64_t seed) : random_(seed) {}
  /// The bytes must outlive this object.
  explicit Decisions(std::span<const std::uint8_t> bytes) : bytes_(bytes), from_bytes_(true) {}

  /// A number below `bound`; 0 when the bytes are used up.
  std::size_t below(std::size_t bound) {
    if (bound <= 1) return 0;
    if (!from_bytes_) return static_cast<std::size_t>(random_.next() % bound);
    std::size_t value = 0;
    for (std::size_t range = 1; range < bound; range *= 256) value = value * 256 + next_byte();
    return value % bound;
  }
  bool one_in(std::size_t n) { return below(n) == n - 1; }

  [[nodiscard]] bool exhausted() const { return from_bytes_ && position_ >= bytes_.size(); }

 private:
  std::uint8_t next_byte() {
    return position_ < bytes_.size() ? bytes_[position_++] : std::uint8_t{0};
  }

  platform::SplitMix64 random_{0};
  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  bool from_bytes_ = false;
};

}  // namespace fallow::test
