#include "profile/malloc/malloc_sampler.h"

namespace fallow::profile {

void MallocSampler::draw(std::size_t interval, std::uint64_t seed) noexcept {
  if (!has_seed_) {
    sampler_ = telemetry::ByteSampler(seed, interval);
    has_seed_ = true;
  }
  sampler_.set_interval(interval);
  const std::uint64_t gap = sampler_.next_gap();
  point_is_chosen_ = gap <= static_cast<std::uint64_t>(kLongestWait);
  left_ = point_is_chosen_ ? static_cast<std::int64_t>(gap) - 1 : kLongestWait;
}

bool MallocSampler::is_chosen(std::size_t interval, std::uint64_t seed) noexcept {
  bool chosen = point_is_chosen_;
  decided_ = sampler_.interval_bytes();
  if (!chosen) {
    // The wait has ended inside this block; nothing before that was chosen. Gaps have no memory:
    // what lies behind is tried anew.
    const auto behind = static_cast<std::uint64_t>(-left_);
    draw(interval, seed);
    decided_ = interval;
    chosen = sampler_.next_gap() <= behind;
  }
  draw(interval, seed);  // from the end of the block
  return chosen && decided_ != 0;
}

}  // namespace fallow::profile
