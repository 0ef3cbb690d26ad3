#pragma once

#include <cstdint>
#include <vector>

#include "profile/analysis/profile.h"

namespace fallow::profile {

/// One place: a stack and the type that it allocates.
struct Site {
  std::uint32_t vertex = 0;
  std::uint32_t type = 0;  ///< 0: not known, or plain memory
  Breakdown bytes;
};

/// By what samples are put together: the function that allocates, the type, the thread.
enum class GroupBy : std::uint8_t { kFunction, kType, kThread };

/// A group of samples; `key` is a frame's name (a text), a type or a stream.
struct Group {
  std::uint32_t key = 0;
  Breakdown bytes;
};

/// The sites in the order of their first samples, and where each sample belongs.
struct SiteIndex {
  std::vector<Site> sites;
  std::vector<std::uint32_t> site_of_sample;
};

SiteIndex index_sites(const Profile& profile);
std::vector<Site> sites_of(const Profile& profile);
std::vector<Group> groups_of(const Profile& profile, GroupBy by);

}  // namespace fallow::profile
