#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/analysis/profile.h"
#include "profile/analysis/texts.h"

namespace fallow::profile {

/// The call tree as a page shows it: by functions, whatever their lines, with the types as leaves.
struct ReportTree {
  enum class Kind : std::uint8_t { kNative, kLanguage, kCollector, kOther, kType };
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t name = 0;  ///< a text of `names`
    std::uint32_t file = 0;  ///< a text of `files`
    Kind kind = Kind::kOther;
  };
  Texts names;
  Texts files;
  std::vector<Node> nodes;  ///< parents come first; [0] is the root
  std::vector<std::uint32_t> node_of_sample;
  std::uint64_t left_out = 0;  ///< nodes that were too small to be kept
};

/// More nodes than this serve nobody: the smallest become one node, "(smaller places)", below what
/// they belong to.
inline constexpr std::size_t kMaxReportNodes = 150'000;

ReportTree report_tree_of(const Profile& profile, std::size_t max_nodes = kMaxReportNodes);

/// What was allocated at a node within a slice of time.
struct ReportRow {
  std::uint32_t node = 0;
  std::uint32_t slice = 0;
  Breakdown bytes;
};

struct ReportRows {
  std::uint32_t slices = 1;  ///< a power of two, as many as `max_rows` allows
  std::vector<ReportRow> rows;
};

ReportRows report_rows_of(const Profile& profile, const ReportTree& tree, std::size_t max_rows);

}  // namespace fallow::profile
