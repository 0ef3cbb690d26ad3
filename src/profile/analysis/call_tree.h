#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profile/analysis/recording.h"
#include "profile/analysis/symbolizer.h"
#include "profile/analysis/texts.h"

namespace fallow::profile {

enum class FrameCategory : std::uint8_t { kNative, kLanguage, kCollector, kOther };

/// A function at a line, or a marker such as (deep stack cut).
struct Frame {
  std::uint32_t name = 0;    ///< a text, never empty
  std::uint32_t file = 0;    ///< of the source, a text; empty when not known
  std::uint32_t module = 0;  ///< path of the file of machine code, a text; empty when there is none
  std::uint32_t line = 0;    ///< 0: not known
  FrameCategory category = FrameCategory::kOther;

  friend bool operator==(const Frame&, const Frame&) = default;
};

/// Told how many of how many steps are done.
using StepProgress = std::function<void(std::uint64_t, std::uint64_t)>;

/// The call tree of a recording with names instead of addresses. What has the same name, file and
/// line is one frame; what has the same frame and caller is one vertex.
struct CallTree {
  struct Vertex {
    std::uint32_t parent = 0;  ///< always less than the vertex's own number
    std::uint32_t frame = 0;
    std::uint32_t depth = 0;  ///< 1 for a root
  };

  Texts texts;
  std::vector<Frame> frames;
  std::vector<Vertex> vertices;               ///< [0] stands for no stack
  std::vector<std::uint32_t> vertex_of_node;  ///< by Node's number

  [[nodiscard]] const std::string& name(std::uint32_t frame) const {
    return texts[frames[frame].name];
  }
  /// The frames from the root to the vertex.
  [[nodiscard]] std::vector<std::uint32_t> stack_of(std::uint32_t vertex) const;
};

/// Asks `symbolizer` for each different address once. Where it knows no name, the frame is called
/// module+0xoffset.
CallTree build_call_tree(const Recording& recording, Symbolizer& symbolizer,
                         const StepProgress& progress = {});

}  // namespace fallow::profile
