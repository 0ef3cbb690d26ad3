#pragma once

#include <cstdint>

#include "profile/analysis/recording.h"

namespace fallow::profile {

/// Gives each sample its fate and, where a collection has told it, its type. A sample without any
/// is alive at the end. Empties Recording::fates. Returns how many named no sample (of a file that
/// was cut, whose sample is missing). O(n log n).
std::uint64_t join_fates(Recording& recording);

/// Gives each sample what it stands for. Bytes are rounded to whole ones, and what is cut off is
/// carried to the next sample: so every sum of samples, in whatever view, is exact and the same.
void assign_weights(Recording& recording);

}  // namespace fallow::profile
