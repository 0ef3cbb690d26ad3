#include "heap/zeal.h"

namespace fallow::detail {

namespace {
/// One in so many forced collections is a full one.
constexpr std::uint64_t kFullOneIn = 8;
/// Bytes of collector work that one allocation pays for.
constexpr std::size_t kBytesPerAllocation = 4096;
}  // namespace

ZealSchedule::ZealSchedule(std::size_t every, std::uint64_t seed) noexcept
    : every_(every), random_(seed) {
  if (active()) draw_gap();
}

ZealSchedule::Action ZealSchedule::tick() noexcept {
  if (gap_ > 1) {
    --gap_;
    return Action::kNone;
  }
  draw_gap();
  return random_.next() % kFullOneIn == 0 ? Action::kFull : Action::kMinor;
}

void ZealSchedule::paid(std::size_t bytes) noexcept { gap_ += bytes / kBytesPerAllocation; }

void ZealSchedule::draw_gap() noexcept { gap_ = 1 + random_.next() % (2 * every_ - 1); }

}  // namespace fallow::detail
