#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/analysis/sites.h"
#include "profile/export/exporter.h"

namespace fallow::profile {

/// What formats that write each stack out have in common: sites by weight, the largest first, the
/// rest as one.
struct StackRows {
  std::vector<Site> sites;
  Breakdown other;
  std::size_t other_count = 0;
};

/// Deeper stacks lose their middle, so that a file of written-out stacks does not grow with the
/// square of the depth.
inline constexpr std::size_t kMaxWrittenFrames = 1024;

StackRows stack_rows_of(const Profile& profile, const ExportOptions& options);

const Tally& weight_of(const Breakdown& bytes, ExportWeight weight);

/// Names from the root to the leaf, the type last where there is one.
std::vector<std::string> written_stack(const Profile& profile, const Site& site);

/// The frames of a vertex, root first, shortened to kMaxWrittenFrames: `cut` frames are missing
/// before index `cut_at`.
struct ShortStack {
  std::vector<std::uint32_t> frames;
  std::size_t cut_at = 0;
  std::size_t cut = 0;
};
ShortStack short_stack_of(const CallTree& tree, std::uint32_t vertex);

/// The type's name, or what stands for it where there is none.
std::string leaf_name(const Profile& profile, std::uint32_t type, SampleRoute route);

}  // namespace fallow::profile
