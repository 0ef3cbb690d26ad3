#include "profile/analysis/sites.h"

#include <unordered_map>

namespace fallow::profile {
namespace {

std::uint32_t key_of(const Profile& profile, const Sample& sample, GroupBy by) {
  switch (by) {
    case GroupBy::kType:
      return sample.type;
    case GroupBy::kThread:
      return sample.stream;
    case GroupBy::kFunction:
      break;
  }
  const CallTree& tree = profile.tree;
  return tree.frames[tree.vertices[profile.vertex_of(sample)].frame].name;
}

}  // namespace

SiteIndex index_sites(const Profile& profile) {
  SiteIndex index;
  index.site_of_sample.reserve(profile.recording.samples.size());
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (const Sample& sample : profile.recording.samples) {
    const std::uint32_t vertex = profile.vertex_of(sample);
    const auto next = static_cast<std::uint32_t>(index.sites.size());
    const auto [found, is_new] =
        numbers.try_emplace((std::uint64_t{vertex} << 32) | sample.type, next);
    if (is_new) index.sites.push_back({vertex, sample.type, {}});
    index.sites[found->second].bytes.add(profile, sample);
    index.site_of_sample.push_back(found->second);
  }
  return index;
}

std::vector<Site> sites_of(const Profile& profile) { return index_sites(profile).sites; }

std::vector<Group> groups_of(const Profile& profile, GroupBy by) {
  std::vector<Group> groups;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (const Sample& sample : profile.recording.samples) {
    const std::uint32_t key = key_of(profile, sample, by);
    const auto next = static_cast<std::uint32_t>(groups.size());
    const auto [found, is_new] = numbers.try_emplace(key, next);
    if (is_new) groups.push_back({key, {}});
    groups[found->second].bytes.add(profile, sample);
  }
  return groups;
}

}  // namespace fallow::profile
