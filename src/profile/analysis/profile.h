#pragma once

#include <string>
#include <utility>
#include <vector>

#include "profile/analysis/call_tree.h"
#include "profile/analysis/estimate.h"
#include "profile/analysis/recording.h"
#include "profile/analysis/recording_reader.h"

namespace fallow::profile {

/// A recording, explained: samples have fates and weights, stacks have names.
struct Profile {
  Recording recording;
  CallTree tree;
  std::vector<std::string> warnings;
  std::uint64_t unmatched_fates = 0;

  [[nodiscard]] std::uint32_t vertex_of(const Sample& sample) const {
    return tree.vertex_of_node[sample.node];
  }
  [[nodiscard]] const std::string& type_name(std::uint32_t type) const {
    return recording.text(recording.definitions.types[type]);
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(recording.end_ns) * 1e-9; }
  /// The interval that held last, or the header's.
  [[nodiscard]] std::uint64_t interval_bytes() const;
};

/// Of a set of samples: how much was allocated, and what became of it.
struct Breakdown {
  Tally allocated;
  Tally died_young;
  Tally tenured;     ///< survived a minor collection, whatever came then
  Tally died_later;  ///< as an old object, or by an explicit free
  Tally live;        ///< at the end
  Tally unknown;     ///< not followed

  void add(const Profile& profile, const Sample& sample);
  void merge(const Breakdown& other);
};

Breakdown total_of(const Profile& profile);

/// Takes over a recording as read.
Profile make_profile(Recording recording, Symbolizer& symbolizer,
                     const StepProgress& progress = {});

/// What can be told on the way; each may be empty.
struct LoadProgress {
  ReadProgress reading;
  StepProgress naming;
};

/// Reads a file and finds names with ElfSymbolizer. Throws as read_recording_file() does.
Profile load_profile(const std::string& path, const LoadProgress& progress = {});

}  // namespace fallow::profile
