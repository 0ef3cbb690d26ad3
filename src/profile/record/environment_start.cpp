#include "profile/record/environment_start.h"

#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "platform/environment.h"
#include "platform/thread_id.h"
#include "platform/whole_number.h"
#include "profile/record/control_lock.h"
#include "profile/record/recorded_heaps.h"
#include "profile/record/recording.h"

namespace fallow::profile {

namespace {

constexpr const char* kVariable = "FALLOW_PROFILE";
/// Set by `fallow record`: the process that is meant, also after it has replaced its program.
constexpr const char* kProcessVariable = "FALLOW_PROFILE_PROCESS";

void start(const std::string& text) {
  RecorderOptions options = RecorderOptions::from_text(text);
  const std::uint64_t process = platform::current_process_id();
  if (const auto meant = platform::environment(kProcessVariable)) {
    const bool is_meant = platform::whole_number(*meant) == process;
    if (!is_meant && !options.follow_fork) return;
    // A program that was started in place of another one takes its file over.
    options.overwrite = true;
    if (!is_meant) options.file += "." + std::to_string(process);
  } else if (!options.follow_fork && options.file.find("%p") == std::string::npos) {
    // The file is this process's: programs that it starts must not meet it.
    platform::unset_environment(kVariable);
  }
  const ControlLock lock;
  Recording::instance().start(options);
  RecordedHeaps::instance().begin(options.all_heaps);
}

}  // namespace

void start_from_environment() noexcept {
  const InsideProfile inside;
  try {
    const std::optional<std::string> text = platform::environment(kVariable);
    if (text && !text->empty()) start(*text);
  } catch (const std::exception& error) {
    constexpr std::string_view kName = "fallow: ";
    std::string_view problem = error.what();
    if (problem.starts_with(kName)) problem.remove_prefix(kName.size());
    std::fprintf(stderr, "fallow: this process is not recorded: %.*s\n",
                 static_cast<int>(problem.size()), problem.data());
  }
}

}  // namespace fallow::profile
