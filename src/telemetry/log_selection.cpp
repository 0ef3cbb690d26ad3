#include "telemetry/log_selection.h"

#include "platform/thread_id.h"

namespace fallow::telemetry {
namespace {

constexpr std::string_view kProcessId = "%d";

}  // namespace

LogSelection::LogSelection(std::string_view specification) {
  if (specification.empty()) return;
  const size_t colon = specification.find(':');
  if (specification.front() == '+') {
    mode_ = Mode::kProfile;
    file_ = specification.substr(1);
  } else if (colon == std::string_view::npos) {
    mode_ = Mode::kProfile;
    file_ = specification;
  } else {
    mode_ = Mode::kPrefixes;
    prefixes_ = specification.substr(0, colon);
    file_ = specification.substr(colon + 1);
  }
}

bool LogSelection::wants_section(const char* category) const noexcept {
  if (mode_ != Mode::kPrefixes) return mode_ == Mode::kProfile;
  const std::string_view name = category;
  std::string_view rest = prefixes_;
  for (;;) {
    const size_t comma = rest.find(',');
    if (name.starts_with(rest.substr(0, comma))) return true;
    if (comma == std::string_view::npos) return false;
    rest.remove_prefix(comma + 1);
  }
}

bool LogSelection::file_per_process() const noexcept {
  return file_.find(kProcessId) != std::string::npos;
}

std::string LogSelection::file_name() const {
  std::string name = file_;
  const size_t position = name.find(kProcessId);
  if (position != std::string::npos) {
    name.replace(position, kProcessId.size(), std::to_string(platform::current_process_id()));
  }
  return name;
}

}  // namespace fallow::telemetry
