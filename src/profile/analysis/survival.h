#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/analysis/profile.h"

namespace fallow::profile {

/// A sample's life, as long as it was watched.
struct Lifetime {
  std::int64_t age_ns = 0;
  double weight = 0;
  bool ended = false;  ///< false: alive when it was last seen, so that it lived at least so long
};

/// The age by which half of the bytes are dead, by the estimator of Kaplan and Meier (1958), which
/// takes what is still alive as what it is. Nothing when more than half outlive the recording.
std::optional<std::int64_t> median_age(std::vector<Lifetime> lives);

struct SurvivalRow {
  std::uint32_t type = 0;
  Breakdown bytes;
  std::optional<std::int64_t> median_age_ns;
  std::int64_t oldest_ns = 0;  ///< of any sample, dead or alive
};

/// One row for each type.
std::vector<SurvivalRow> survival_of(const Profile& profile);

/// Live bytes over time by when they were allocated: the layers of a sediment.
struct Sediment {
  std::vector<std::int64_t> times_ns;           ///< of the columns
  std::vector<std::int64_t> layer_begin_ns;     ///< of births
  std::vector<std::vector<double>> live_bytes;  ///< [layer][column]
};

/// O(samples + layers * columns). `layers` and `columns` are at least 1.
Sediment sediment_of(const Profile& profile, std::size_t layers, std::size_t columns);

}  // namespace fallow::profile
