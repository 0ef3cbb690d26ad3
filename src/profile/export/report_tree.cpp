#include "profile/export/report_tree.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "platform/split_mix.h"
#include "profile/export/stack_rows.h"

namespace fallow::profile {
namespace {

using Kind = ReportTree::Kind;

struct ChildHash {
  std::size_t operator()(const std::pair<std::uint32_t, std::uint64_t>& child) const {
    return platform::mix_bits(child.first + platform::mix_bits(child.second));
  }
};

Kind kind_of(FrameCategory category) {
  switch (category) {
    case FrameCategory::kNative:
      return Kind::kNative;
    case FrameCategory::kLanguage:
      return Kind::kLanguage;
    case FrameCategory::kCollector:
      return Kind::kCollector;
    case FrameCategory::kOther:
      break;
  }
  return Kind::kOther;
}

class Building {
 public:
  explicit Building(const Profile& profile) : profile_(profile) {
    tree_.nodes.push_back({0, tree_.names.number_of("all"), 0, Kind::kOther});
    const CallTree& calls = profile.tree;
    std::vector<std::uint32_t> node_of_vertex(calls.vertices.size());
    for (std::uint32_t i = 1; i < calls.vertices.size(); ++i) {
      const Frame& frame = calls.frames[calls.vertices[i].frame];
      node_of_vertex[i] =
          child(node_of_vertex[calls.vertices[i].parent], calls.texts[frame.name],
                frame.file != 0 ? calls.texts[frame.file] : calls.texts[frame.module],
                kind_of(frame.category));
    }
    for (const Sample& sample : profile.recording.samples) {
      const std::string type = leaf_name(profile, sample.type, sample.route);
      tree_.node_of_sample.push_back(
          child(node_of_vertex[profile.vertex_of(sample)], type, "", Kind::kType));
    }
  }

  ReportTree take(std::size_t max_nodes) {
    if (tree_.nodes.size() > max_nodes) drop_small(max_nodes);
    return std::move(tree_);
  }

 private:
  std::uint32_t child(std::uint32_t parent, const std::string& name, const std::string& file,
                      Kind kind) {
    const std::uint32_t text = tree_.names.number_of(name);
    const auto next = static_cast<std::uint32_t>(tree_.nodes.size());
    const auto [found, is_new] = children_.try_emplace(
        {parent, (std::uint64_t{text} << 3) | static_cast<std::uint64_t>(kind)}, next);
    if (is_new) tree_.nodes.push_back({parent, text, tree_.files.number_of(file), kind});
    return found->second;
  }

  void drop_small(std::size_t max_nodes) {
    std::vector<double> total(tree_.nodes.size());
    for (std::size_t i = 0; i < tree_.node_of_sample.size(); ++i) {
      total[tree_.node_of_sample[i]] += static_cast<double>(profile_.recording.samples[i].weight);
    }
    for (std::size_t i = total.size(); i-- > 1;) total[tree_.nodes[i].parent] += total[i];
    const std::vector<bool> kept = largest(total, max_nodes / 2);
    std::vector<ReportTree::Node> old = std::exchange(tree_.nodes, {});
    std::vector<std::uint32_t> moved(old.size());
    children_.clear();
    tree_.nodes.push_back(old[0]);
    for (std::size_t i = 1; i < old.size(); ++i) {
      const std::uint32_t parent = moved[old[i].parent];
      const bool in_rest = is_rest_.contains(parent);
      if (kept[i] && !in_rest) {
        moved[i] = static_cast<std::uint32_t>(tree_.nodes.size());
        tree_.nodes.push_back({parent, old[i].name, old[i].file, old[i].kind});
      } else {
        moved[i] = in_rest ? parent : rest_of(parent);
        ++tree_.left_out;
      }
    }
    for (std::uint32_t& node : tree_.node_of_sample) node = moved[node];
  }

  // Among equals the first: no node is larger than its parent or comes before it, so that what is
  // kept hangs together.
  static std::vector<bool> largest(const std::vector<double>& total, std::size_t count) {
    std::vector<std::uint32_t> order(total.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(order.begin(), end, order.end(), [&total](std::uint32_t a, std::uint32_t b) {
      return total[a] != total[b] ? total[a] > total[b] : a < b;
    });
    std::vector<bool> kept(total.size());
    for (auto i = order.begin(); i != end; ++i) kept[*i] = true;
    return kept;
  }

  std::uint32_t rest_of(std::uint32_t parent) {
    const std::uint32_t rest = child(parent, "(smaller places)", "", Kind::kOther);
    is_rest_.insert(rest);
    return rest;
  }

  const Profile& profile_;
  ReportTree tree_;
  std::unordered_map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t, ChildHash> children_;
  std::unordered_set<std::uint32_t> is_rest_;
};

std::vector<ReportRow> rows_with(const Profile& profile, const ReportTree& tree,
                                 std::uint32_t slices) {
  std::unordered_map<std::uint64_t, std::size_t> numbers;
  std::vector<ReportRow> rows;
  const double end = std::max<double>(static_cast<double>(profile.recording.end_ns), 1);
  for (std::size_t i = 0; i < profile.recording.samples.size(); ++i) {
    const Sample& sample = profile.recording.samples[i];
    const double part = std::clamp(static_cast<double>(sample.time_ns) / end, 0.0, 1.0);
    const std::uint32_t slice = std::min(static_cast<std::uint32_t>(part * slices), slices - 1);
    const std::uint32_t node = tree.node_of_sample[i];
    const auto [found, is_new] =
        numbers.try_emplace((std::uint64_t{node} << 32) | slice, rows.size());
    if (is_new) rows.push_back({node, slice, {}});
    rows[found->second].bytes.add(profile, sample);
  }
  return rows;
}

}  // namespace

ReportTree report_tree_of(const Profile& profile, std::size_t max_nodes) {
  return Building(profile).take(max_nodes);
}

ReportRows report_rows_of(const Profile& profile, const ReportTree& tree, std::size_t max_rows) {
  ReportRows result;
  for (result.slices = 64;; result.slices /= 2) {
    result.rows = rows_with(profile, tree, result.slices);
    if (result.rows.size() <= max_rows || result.slices == 1) return result;
  }
}

}  // namespace fallow::profile
