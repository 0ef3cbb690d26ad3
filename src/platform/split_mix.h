// SplitMix64 (Steele, Lea and Flood, 2014): random numbers from a seed, the same on every machine.
//
// Not for secrets. Thread-safety: the functions any thread; a SplitMix64 one thread at a time.
#pragma once

#include <cstdint>

namespace fallow::platform {

// Between two states of the generator.
inline constexpr uint64_t kSplitMixStep = 0x9e3779b97f4a7c15;

// Spreads a value over all 64 bits; one-to-one.
constexpr uint64_t mix_bits(uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// 64 random bits as a number from 0 to below 1.
constexpr double unit_interval(uint64_t bits) noexcept {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

class SplitMix64 {
 public:
  explicit constexpr SplitMix64(uint64_t seed) noexcept : state_(seed) {}
  constexpr uint64_t next() noexcept { return mix_bits(state_ += kSplitMixStep); }

 private:
  uint64_t state_;
};

}  // namespace fallow::platform
