// The log: nested, time-stamped sections in the syntax and line format of the RPython log, so that
// programs which read PYPYLOG files read these.
//
// FALLOW_LOG, read at the first use, selects what is written where:
//   file, +file     profiling: start and end of every section, no lines inside. The + is for names
//                   that contain a colon.
//   :file           every section, with its lines
//   p1,p2:file      the sections whose category begins with a prefix in the list, with their lines
// The file "-" is standard error, coloured when that is a terminal. "%d" in the name becomes the
// process id. The variable is removed from the environment, so that children started from here do
// not overwrite the file; with %d it stays. An existing file is emptied.
//
// Format: "[STAMP] {category", lines, "[STAMP] category}". STAMP is platform::ticks() in lower-case
// hex. Whatever is selected, the file begins with a section gc-clock that holds the lines
// "ticks per second: N" and "clock: NAME", so that stamps can be converted to time.
//
// Nesting: a section is written or not by its own category, whatever encloses it. At most 63
// levels; sections further in are silent.
// Threads: the sections of a thread are collected and written in one piece when the outermost one
// that is selected ends, so threads never interleave; a program that crashes loses the sections
// still open. One piece is at most 16 MiB; lines and sections beyond that are counted in a section
// log-dropped instead.
// fork: the child closes the log and discards what was collected; with %d it opens its own file.
// Errors: never disturb the program. A file that cannot be opened or written switches the log off;
// log_error() then says why.
// Cost: while the log is off, a section is one relaxed load and a predicted branch.
// Thread-safety: everything may be called from any thread. A LogSection stays on its thread and
// sections end in the reverse order of their start.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace fallow::telemetry {

namespace detail {
// False only when it is known that nothing is selected.
extern std::atomic<bool> log_maybe_on;
bool log_enabled_slow(const char* category) noexcept;
}  // namespace detail

// Whether a section of this category, started now, would be written.
inline bool log_enabled(const char* category) noexcept {
  return detail::log_maybe_on.load(std::memory_order_relaxed) && detail::log_enabled_slow(category);
}

class LogSection {
 public:
  // `category` is kept until the end of the section: pass a literal.
  explicit LogSection(const char* category) noexcept : category_(category) {
    if (detail::log_maybe_on.load(std::memory_order_relaxed)) begin();
  }
  ~LogSection() {
    if (state_ != State::kNotEntered) end();
  }
  LogSection(const LogSection&) = delete;
  LogSection& operator=(const LogSection&) = delete;

  // Whether lines are kept: ask before computing expensive values.
  bool wants_lines() const noexcept { return state_ == State::kLines; }

  // Adds a line; the line end is added here. As printf: values are joined by single blanks by
  // the caller. Nothing happens unless wants_lines().
  [[gnu::format(printf, 2, 3)]] void line(const char* format, ...) noexcept;

 private:
  enum class State : unsigned char {
    kNotEntered,  // the log was off at the start
    kSilent,      // counted for nesting only
    kStartStop,   // profiling: no lines
    kLines,
  };

  void begin() noexcept;
  void end() noexcept;

  const char* category_;
  const void* log_ = nullptr;  // the configuration at the start
  State state_ = State::kNotEntered;
};

// Replaces the configuration, whether it came from the environment or from an earlier call. An
// empty specification switches the log off. Sections open at this moment, in any thread, are
// discarded. A few hundred bytes per call are kept until the end of the process.
// False when the file cannot be opened: the log is off then, and `error` (may be nullptr) says why.
bool log_configure(std::string_view specification, std::string* error);

// Reads FALLOW_LOG now rather than at the first section; nothing happens if the log has been
// configured already. False when the file cannot be opened.
bool log_configure_from_environment();

// Why the log was switched off, or an empty string.
std::string log_error();

}  // namespace fallow::telemetry
