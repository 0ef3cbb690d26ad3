// The process-wide side of the log: which configuration is in force, and the file. log.h has the
// contract; the per-thread side is in log.cpp.
//
// Thread-safety: any thread. Errors: switch the log off, see log_error().
#pragma once

#include <string>
#include <string_view>

#include "telemetry/log_selection.h"

namespace fallow::telemetry::detail {

// A configuration in force. Never freed, so that pointers to it tell configurations apart.
struct ActiveLog {
  LogSelection selection;
  bool colored = false;
};

// The configuration in force now; reads the environment, or opens the file of a fork child, where
// that is due.
const ActiveLog& active_log() noexcept;

// Writes finished sections, unless `log` is no longer in force.
void write_log(const ActiveLog& log, std::string_view text) noexcept;

// Appends the line that starts or ends a section.
void append_section_start(std::string& text, const ActiveLog& log, std::string_view category);
void append_section_end(std::string& text, const ActiveLog& log, std::string_view category);

// More than either of these lines can take, apart from the category.
inline constexpr size_t kSectionMarkBytes = 48;

}  // namespace fallow::telemetry::detail
