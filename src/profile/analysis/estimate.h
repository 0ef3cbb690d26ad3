#pragma once

#include <cstdint>

#include "telemetry/byte_sampler.h"

namespace fallow::profile {

/// What is known of a quantity: with a probability of 95 % it lies between these.
struct Interval {
  double low = 0;
  double high = 0;

  [[nodiscard]] bool excludes_zero() const { return low > 0 || high < 0; }
};

using telemetry::inclusion_probability;

/// Estimated bytes and objects, added up from samples. Each stands for bytes/p bytes and 1/p
/// objects; those with p > 0.99 count as exact. O(1) to add to and to merge.
class Tally {
 public:
  /// `weight` is bytes/p, rounded to whole bytes in a way that keeps totals.
  void add(std::uint64_t bytes, std::uint64_t interval_bytes, std::uint64_t weight, double objects);
  void merge(const Tally& other);

  [[nodiscard]] double bytes() const { return bytes_; }
  [[nodiscard]] double exact_bytes() const { return exact_bytes_; }
  [[nodiscard]] double objects() const { return objects_; }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  /// Samples that carry an error, that is, all but the exact ones.
  [[nodiscard]] std::uint64_t uncertain_samples() const { return samples_ - exact_samples_; }
  /// Of the bytes: the sum of bytes²(1-p)/p².
  [[nodiscard]] double variance() const { return variance_; }

  /// Of the bytes, 95 %: w·χ²(0.025; 2k)/2 to w·χ²(0.975; 2k+2)/2 for the k samples with mean
  /// weight w that are not exact, plus the exact ones. {0, 0} without samples: see unseen_bound().
  [[nodiscard]] Interval interval() const;
  /// Half the interval's width in parts of the estimate; 0 for an exact one, and for none.
  [[nodiscard]] double relative_error() const;

 private:
  double bytes_ = 0;
  double exact_bytes_ = 0;
  double objects_ = 0;
  double variance_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t exact_samples_ = 0;
};

/// What of a mean weight the ends of the 95 % interval are after k samples, by the cube of Wilson
/// and Hilferty (1931).
Interval poisson_factors(std::uint64_t samples);

/// A place that was never sampled has with 97.5 % allocated less than this.
double unseen_bound(std::uint64_t interval_bytes);

/// `after` minus `before`, 95 %: the distances of the two estimates from the ends of their
/// intervals are added as variances are (Zou and Donner, 2008), which stays right with few samples,
/// where a sum of variances alone does not. `interval_bytes` is that of a side without samples.
Interval difference_interval(const Tally& before, const Tally& after,
                             std::uint64_t before_interval_bytes,
                             std::uint64_t after_interval_bytes);

}  // namespace fallow::profile
