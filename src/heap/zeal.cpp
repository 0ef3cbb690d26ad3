#include "heap/zeal.h"

namespace fallow::detail {

namespace {
/// One in so many forced collections is a full one.
constexpr std::uint64_t kFullOneIn = 8;
/// Bytes of collector work that one allocation pays for.
constexpr std::size_t kBytesPerAllocation = 4096;
}  // namespace

ZealSchedule::ZealSchedule(std::size_t every, std::uint64_t seed) noexcept
    : every_(every), state_(seed) {
  if (active()) draw_gap();
}

ZealSchedule::Action ZealSchedule::tick() noexcept {
  if (gap_ > 1) {
    --gap_;
    return Action::kNone;
  }
  draw_gap();
  return random() % kFullOneIn == 0 ? Action::kFull : Action::kMinor;
}

void ZealSchedule::paid(std::size_t bytes) noexcept { gap_ += bytes / kBytesPerAllocation; }

// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t ZealSchedule::random() noexcept {
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

void ZealSchedule::draw_gap() noexcept { gap_ = 1 + random() % (2 * every_ - 1); }

}  // namespace fallow::detail
