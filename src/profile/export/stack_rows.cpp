#include "profile/export/stack_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace fallow::profile {

const Tally& weight_of(const Breakdown& bytes, ExportWeight weight) {
  switch (weight) {
    case ExportWeight::kLive:
      return bytes.live;
    case ExportWeight::kDied:
      return bytes.died_young;
    case ExportWeight::kAllocated:
      break;
  }
  return bytes.allocated;
}

StackRows stack_rows_of(const Profile& profile, const ExportOptions& options) {
  StackRows rows;
  rows.sites = sites_of(profile);
  std::sort(rows.sites.begin(), rows.sites.end(), [&options](const Site& a, const Site& b) {
    return weight_of(a.bytes, options.weight).bytes() > weight_of(b.bytes, options.weight).bytes();
  });
  if (options.max_rows == 0 || rows.sites.size() <= options.max_rows) return rows;
  for (std::size_t i = options.max_rows; i < rows.sites.size(); ++i) {
    rows.other.merge(rows.sites[i].bytes);
  }
  rows.other_count = rows.sites.size() - options.max_rows;
  rows.sites.resize(options.max_rows);
  return rows;
}

ShortStack short_stack_of(const CallTree& tree, std::uint32_t vertex) {
  ShortStack stack;
  stack.frames = tree.stack_of(vertex);
  if (stack.frames.size() <= kMaxWrittenFrames) return stack;
  stack.cut_at = kMaxWrittenFrames / 2;
  stack.cut = stack.frames.size() - kMaxWrittenFrames;
  const auto begin = stack.frames.begin() + static_cast<std::ptrdiff_t>(stack.cut_at);
  stack.frames.erase(begin, begin + static_cast<std::ptrdiff_t>(stack.cut));
  return stack;
}

std::vector<std::string> written_stack(const Profile& profile, const Site& site) {
  const ShortStack stack = short_stack_of(profile.tree, site.vertex);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    if (stack.cut != 0 && i == stack.cut_at) {
      names.push_back(fmt::format("({} frames left out)", stack.cut));
    }
    names.push_back(profile.tree.name(stack.frames[i]));
  }
  if (names.empty()) names.emplace_back("(no stack)");
  if (site.type != 0) names.push_back(profile.type_name(site.type));
  return names;
}

std::string leaf_name(const Profile& profile, std::uint32_t type, SampleRoute route) {
  if (type != 0) {
    const std::string& name = profile.type_name(type);
    return name.empty() ? "(no name)" : name;
  }
  switch (route) {
    case SampleRoute::kMalloc:
      return "(plain memory)";
    case SampleRoute::kDevice:
      return "(device memory)";
    default:
      return "(type not told)";
  }
}

}  // namespace fallow::profile
