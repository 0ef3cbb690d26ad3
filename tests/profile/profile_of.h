// A profile of what a builder has written, without names from files.
#pragma once

#include <sstream>
#include <utility>

#include "profile/analysis/profile.h"
#include "tests/profile/recording_builder.h"

namespace fallow::test {

class NoNames final : public profile::Symbolizer {
 public:
  std::vector<profile::SymbolFrame> find(const profile::LoadedFile& /*file*/,
                                         std::uint64_t /*address*/) override {
    return {};
  }
};

inline profile::Profile profile_of(RecordingBuilder& builder) {
  std::istringstream file(builder.file());
  NoNames no_names;
  return profile::make_profile(profile::read_recording(file), no_names);
}

}  // namespace fallow::test
