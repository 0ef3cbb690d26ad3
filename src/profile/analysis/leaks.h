#pragma once

#include <cstdint>
#include <vector>

#include "profile/analysis/sites.h"

namespace fallow::profile {

/// A site whose live bytes keep growing.
struct Leak {
  Site site;
  double growth_bytes = 0;  ///< in the second half of the recording
  Interval growth_range;    ///< of that, 95 %
  double bytes_per_second = 0;
};

/// Looks at what is not young: objects that have survived a minor collection, and plain memory. A
/// site is told when its live bytes have risen in all but one of seven equal parts of the recording
/// (the first eighth is left to starting up), and their growth in the second half exceeds what
/// sampling explains. Fastest first.
///
/// What fills up slowly looks the same as what leaks: the answer names places to look at.
std::vector<Leak> leaks_of(const Profile& profile);

}  // namespace fallow::profile
