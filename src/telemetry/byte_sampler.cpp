#include "telemetry/byte_sampler.h"

#include <cmath>

namespace fallow::telemetry {

double inclusion_probability(std::uint64_t bytes, std::uint64_t interval_bytes) noexcept {
  return -std::expm1(-static_cast<double>(bytes) / static_cast<double>(interval_bytes));
}

std::uint64_t ByteSampler::next_gap() noexcept {
  if (interval_ == 0) return kForever;
  // From (0, 1]: the logarithm of zero has no place here.
  const double unit = 1.0 - platform::unit_interval(random_.next());
  const double gap = -std::log(unit) * static_cast<double>(interval_);
  if (gap >= static_cast<double>(kForever - 1)) return kForever;
  return 1 + static_cast<std::uint64_t>(gap);
}

}  // namespace fallow::telemetry
