#include "profile/analysis/estimate.h"

#include <algorithm>
#include <cmath>

namespace fallow::profile {
namespace {

constexpr double kExactFrom = 0.99;
constexpr double kQuantile = 1.96;

double chi_square(double degrees, double quantile) {
  const double part = 2 / (9 * degrees);
  const double root = 1 - part + quantile * std::sqrt(part);
  return root <= 0 ? 0 : degrees * root * root * root;
}

Interval or_unseen(const Tally& tally, std::uint64_t interval_bytes) {
  if (tally.samples() != 0) return tally.interval();
  return {0, unseen_bound(interval_bytes)};
}

}  // namespace

void Tally::add(std::uint64_t bytes, std::uint64_t interval_bytes, std::uint64_t weight,
                double objects) {
  const double p = inclusion_probability(bytes, interval_bytes);
  bytes_ += static_cast<double>(weight);
  objects_ += objects;
  ++samples_;
  if (p > kExactFrom) {
    exact_bytes_ += static_cast<double>(weight);
    ++exact_samples_;
    return;
  }
  const double estimate = static_cast<double>(bytes) / p;
  variance_ += estimate * estimate * (1 - p);
}

void Tally::merge(const Tally& other) {
  bytes_ += other.bytes_;
  exact_bytes_ += other.exact_bytes_;
  objects_ += other.objects_;
  variance_ += other.variance_;
  samples_ += other.samples_;
  exact_samples_ += other.exact_samples_;
}

Interval Tally::interval() const {
  const std::uint64_t count = uncertain_samples();
  if (count == 0) return {exact_bytes_, exact_bytes_};
  const double mean = (bytes_ - exact_bytes_) / static_cast<double>(count);
  const Interval factors = poisson_factors(count);
  return {exact_bytes_ + mean * factors.low, exact_bytes_ + mean * factors.high};
}

double Tally::relative_error() const {
  if (bytes_ <= 0) return 0;
  const Interval range = interval();
  return (range.high - range.low) / 2 / bytes_;
}

Interval poisson_factors(std::uint64_t samples) {
  const double count = static_cast<double>(samples);
  return {samples == 0 ? 0 : chi_square(2 * count, -kQuantile) / 2,
          chi_square(2 * count + 2, kQuantile) / 2};
}

double unseen_bound(std::uint64_t interval_bytes) {
  return poisson_factors(0).high * static_cast<double>(interval_bytes);
}

Interval difference_interval(const Tally& before, const Tally& after,
                             std::uint64_t before_interval_bytes,
                             std::uint64_t after_interval_bytes) {
  const Interval first = or_unseen(before, before_interval_bytes);
  const Interval second = or_unseen(after, after_interval_bytes);
  const double change = after.bytes() - before.bytes();
  return {change - std::hypot(after.bytes() - second.low, first.high - before.bytes()),
          change + std::hypot(second.high - after.bytes(), before.bytes() - first.low)};
}

}  // namespace fallow::profile
