#include "profile/analysis/profile.h"

#include <fmt/format.h>

#include "profile/analysis/elf_symbolizer.h"
#include "profile/analysis/fates.h"

namespace fallow::profile {

std::uint64_t Profile::interval_bytes() const {
  const std::vector<Epoch>& epochs = recording.definitions.epochs;
  if (epochs.size() > 1) return epochs.back().interval_bytes;
  return std::max<std::uint64_t>(recording.meta_number("interval_bytes"), 1);
}

void Breakdown::add(const Profile& profile, const Sample& sample) {
  const std::uint64_t interval = profile.recording.interval_of(sample);
  const auto add_to = [&](Tally& tally) {
    tally.add(sample.bytes, interval, sample.weight, sample.objects);
  };
  add_to(allocated);
  if (sample.tenured) add_to(tenured);
  switch (sample.fate) {
    case Fate::kLive:
      return add_to(live);
    case Fate::kDiedYoung:
      return add_to(died_young);
    case Fate::kDiedOld:
    case Fate::kFreed:
      return add_to(died_later);
    case Fate::kUnknown:
      return add_to(unknown);
  }
}

void Breakdown::merge(const Breakdown& other) {
  allocated.merge(other.allocated);
  died_young.merge(other.died_young);
  tenured.merge(other.tenured);
  died_later.merge(other.died_later);
  live.merge(other.live);
  unknown.merge(other.unknown);
}

Breakdown total_of(const Profile& profile) {
  Breakdown total;
  for (const Sample& sample : profile.recording.samples) total.add(profile, sample);
  return total;
}

Profile make_profile(Recording recording, Symbolizer& symbolizer, const StepProgress& progress) {
  Profile profile;
  profile.recording = std::move(recording);
  profile.unmatched_fates = join_fates(profile.recording);
  assign_weights(profile.recording);
  profile.tree = build_call_tree(profile.recording, symbolizer, progress);
  profile.warnings = symbolizer.warnings();
  if (profile.recording.damage) {
    profile.warnings.push_back(
        fmt::format("the file is damaged at byte {}: {}; used is what is "
                    "before that",
                    profile.recording.damage->offset, profile.recording.damage->reason));
  }
  return profile;
}

Profile load_profile(const std::string& path, const LoadProgress& progress) {
  ElfSymbolizer symbolizer;
  return make_profile(read_recording_file(path, progress.reading), symbolizer, progress.naming);
}

}  // namespace fallow::profile
