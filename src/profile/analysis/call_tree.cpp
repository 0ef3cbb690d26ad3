#include "profile/analysis/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "platform/split_mix.h"
#include "profile/analysis/address_map.h"

namespace fallow::profile {
namespace {

struct FrameHash {
  std::size_t operator()(const Frame& frame) const {
    const std::uint64_t names = (std::uint64_t{frame.name} << 32) | frame.file;
    const std::uint64_t rest = (std::uint64_t{frame.module} << 32) | frame.line;
    return platform::mix_bits(names ^ platform::mix_bits(rest));
  }
};

struct PairHash {
  template <class First, class Second>
  std::size_t operator()(const std::pair<First, Second>& pair) const {
    return platform::mix_bits(pair.first ^ platform::mix_bits(pair.second));
  }
};

std::string file_name(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

class Building {
 public:
  Building(const Recording& recording, Symbolizer& symbolizer)
      : recording_(recording), symbolizer_(symbolizer) {
    files_.reserve(recording.definitions.modules.size());
    for (const Module& module : recording.definitions.modules) {
      files_.push_back({recording.text(module.path), recording.text(module.build_id), module.bias});
    }
    const Definitions& known = recording.definitions;
    for (std::uint32_t i = 1; i < known.modules.size(); ++i) {
      last_modules_.add(known.modules[i].start, known.modules[i].end, i);
    }
    for (std::uint32_t i = 1; i < known.codes.size(); ++i) {
      last_codes_.add(known.codes[i].start, known.codes[i].start + known.codes[i].bytes, i);
    }
  }

  CallTree build(const StepProgress& progress) {
    const std::vector<Node>& nodes = recording_.definitions.nodes;
    tree_.frames.push_back({tree_.texts.number_of("(no stack)"), 0, 0, 0, FrameCategory::kOther});
    tree_.vertices.emplace_back();
    tree_.vertex_of_node.assign(nodes.size(), 0);
    for (std::uint32_t number = 1; number < nodes.size(); ++number) {
      const Node& node = nodes[number];
      std::uint32_t vertex = tree_.vertex_of_node[node.parent];
      for (const std::uint32_t frame : frames_of(node)) vertex = child(vertex, frame);
      tree_.vertex_of_node[number] = vertex;
      if (progress && number % 256 == 0) progress(number, nodes.size());
    }
    return std::move(tree_);
  }

 private:
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame) {
    const auto next = static_cast<std::uint32_t>(tree_.vertices.size());
    const auto [found, is_new] =
        children_.try_emplace(std::pair<std::uint64_t, std::uint64_t>(parent, frame), next);
    if (is_new) tree_.vertices.push_back({parent, frame, tree_.vertices[parent].depth + 1});
    return found->second;
  }

  const std::vector<std::uint32_t>& frames_of(const Node& node) {
    const std::pair<std::uint64_t, std::uint64_t> key(
        node.value ^ (std::uint64_t{static_cast<std::uint8_t>(node.kind)} << 62),
        node.kind == NodeKind::kNative ? (std::uint64_t{code_of(node)} << 32) | module_of(node)
                                       : node.detail);
    const auto [found, is_new] = known_.try_emplace(key);
    if (is_new) found->second = resolve(node);
    return found->second;
  }

  std::vector<std::uint32_t> resolve(const Node& node) {
    switch (node.kind) {
      case NodeKind::kNative:
        return native(node);
      case NodeKind::kEmbedded:
        return {embedded(node)};
      case NodeKind::kMarker:
        break;
    }
    const std::string& text = recording_.text(static_cast<std::uint32_t>(node.value));
    const auto category =
        text == "(garbage collection)" ? FrameCategory::kCollector : FrameCategory::kOther;
    return {frame({named(text), 0, 0, 0, category})};
  }

  // A module may have been noticed only after the first sample in it, and code named only then.
  std::uint32_t module_of(const Node& node) const {
    return node.module != 0 ? node.module : last_modules_.at(node.value);
  }
  std::uint32_t code_of(const Node& node) const {
    if (node.code != 0) return node.code;
    return module_of(node) != 0 ? 0 : last_codes_.at(node.value);
  }

  std::vector<std::uint32_t> native(const Node& node) {
    if (const std::uint32_t code = code_of(node); code != 0) {
      const std::string& name = recording_.text(recording_.definitions.codes[code].name);
      return {frame({named(name), 0, 0, 0, FrameCategory::kLanguage})};
    }
    const std::uint32_t module = module_of(node);
    const LoadedFile& file = files_[module];
    const std::uint32_t path = tree_.texts.number_of(file.path);
    std::vector<std::uint32_t> frames;
    if (module != 0) {
      for (const SymbolFrame& found : symbolizer_.find(file, node.value)) {
        frames.push_back(frame({named(found.name), tree_.texts.number_of(found.file), path,
                                found.line, FrameCategory::kNative}));
      }
    }
    if (!frames.empty()) return frames;
    const std::string name = module == 0 ? "(no module)" : file_name(file.path);
    const std::uint64_t offset = node.value - file.bias;
    return {
        frame({named(fmt::format("{}+{:#x}", name, offset)), 0, path, 0, FrameCategory::kNative})};
  }

  std::uint32_t embedded(const Node& node) {
    const Function& function = recording_.definitions.functions[node.value];
    std::uint64_t line = function.first_line;
    const auto after = std::upper_bound(
        function.lines.begin(), function.lines.end(), node.detail,
        [](std::uint64_t position, const auto& entry) { return position < entry.first; });
    if (after != function.lines.begin()) line = std::prev(after)->second;
    const std::string& file = recording_.text(function.file);
    return frame({named(recording_.text(function.name)), tree_.texts.number_of(file), 0,
                  static_cast<std::uint32_t>(std::min<std::uint64_t>(line, 0x7FFFFFFF)),
                  FrameCategory::kLanguage});
  }

  std::uint32_t named(const std::string& name) {
    return tree_.texts.number_of(name.empty() ? "(no name)" : name);
  }

  std::uint32_t frame(const Frame& frame) {
    const auto next = static_cast<std::uint32_t>(tree_.frames.size());
    const auto [found, is_new] = frame_numbers_.try_emplace(frame, next);
    if (is_new) tree_.frames.push_back(frame);
    return found->second;
  }

  const Recording& recording_;
  Symbolizer& symbolizer_;
  std::vector<LoadedFile> files_;  // by module
  AddressMap last_modules_;
  AddressMap last_codes_;
  CallTree tree_;
  std::unordered_map<Frame, std::uint32_t, FrameHash> frame_numbers_;
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t, PairHash> children_;
  // By (value and kind, module or detail).
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint32_t>, PairHash>
      known_;
};

}  // namespace

std::vector<std::uint32_t> CallTree::stack_of(std::uint32_t vertex) const {
  std::vector<std::uint32_t> stack(vertices[vertex].depth);
  for (std::size_t i = stack.size(); i-- > 0; vertex = vertices[vertex].parent) {
    stack[i] = vertices[vertex].frame;
  }
  return stack;
}

CallTree build_call_tree(const Recording& recording, Symbolizer& symbolizer,
                         const StepProgress& progress) {
  return Building(recording, symbolizer).build(progress);
}

}  // namespace fallow::profile
