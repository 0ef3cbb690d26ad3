#include "tools/fallow/recording_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "fallow/error.h"
#include "tools/fallow/exit_codes.h"
#include "tools/fallow/progress.h"

namespace fallow::tool {

bool is_recording_verb(std::string_view name) {
  constexpr std::array<std::string_view, 14> kVerbs = {
      "record", "attach", "detach", "top",  "survival", "pauses", "leaks",
      "diff",   "export", "report", "view", "info",     "check",  "repair"};
  return std::find(kVerbs.begin(), kVerbs.end(), name) != kVerbs.end();
}

profile::Profile load_with_progress(const std::string& path) {
  std::error_code no_file;
  const auto size = std::filesystem::file_size(path, no_file);
  Progress progress;
  profile::LoadProgress steps;
  if (!no_file) {
    steps.reading = [&](std::uint64_t done) { progress.show("reading", done, size); };
  }
  steps.naming = [&](std::uint64_t done, std::uint64_t total) {
    progress.show("looking up names", done, total);
  };
  profile::Profile profile = profile::load_profile(path, steps);
  progress.clear();
  for (const std::string& warning : profile.warnings) {
    fmt::print(stderr, "fallow: {}\n", warning);
  }
  return profile;
}

int guarded(const std::function<int()>& work) {
  const auto complain = [](const char* what, int code) {
    fmt::print(stderr, "fallow: {}\n", what);
    return code;
  };
  try {
    return work();
  } catch (const profile::NotARecording& error) {
    return complain(error.what(), kRecordingDamaged);
  } catch (const OptionError& error) {
    return complain(error.what(), kRecordingUsage);
  } catch (const std::system_error& error) {
    return complain(error.what(), kRecordingUsage);
  }
}

int exit_code_of(const profile::Recording& recording) {
  return recording.damage ? kRecordingDamaged : kExitOk;
}

void suggest(const std::string& arguments) { fmt::print(stderr, "next: fallow {}\n", arguments); }

void check_output(const std::string& path, bool force, const std::string& input) {
  std::error_code missing;
  const auto status = std::filesystem::status(path, missing);
  if (!std::filesystem::is_regular_file(status)) {
    if (std::filesystem::is_directory(status)) {
      throw OptionError(fmt::format("'{}' is a directory", path));
    }
    return;
  }
  if (std::filesystem::equivalent(path, input, missing)) {
    throw OptionError(fmt::format("'{}' would overwrite the recording", path));
  }
  if (!force) throw OptionError(fmt::format("'{}' exists; -f overwrites it", path));
}

}  // namespace fallow::tool
