#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/analysis/sites.h"

namespace fallow::profile {

/// What is compared: allocated bytes, or those alive at the end.
enum class CompareBy : std::uint8_t { kAllocated, kLive };

struct Change {
  Tally before;
  Tally after;
  Interval range;            ///< of after - before, 95 %
  std::uint32_t vertex = 0;  ///< in the profile that `in_after` tells
  std::string type;          ///< empty when not known
  bool in_after = false;

  [[nodiscard]] double bytes() const { return after.bytes() - before.bytes(); }
  /// Beyond what sampling explains.
  [[nodiscard]] bool significant() const { return range.excludes_zero(); }
};

struct Difference {
  Change total;
  std::vector<Change> sites;  ///< significant ones first, each by the size of the change
};

/// Sites are the same when the names of their functions and types are: lines and addresses may
/// differ. O(vertices + sites log sites).
Difference difference_of(const Profile& before, const Profile& after, CompareBy by);

}  // namespace fallow::profile
