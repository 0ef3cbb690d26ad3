// What a log specification selects; the parsed form of FALLOW_LOG. See log.h for the syntax.
//
// Thread-safety: immutable after construction.
#pragma once

#include <string>
#include <string_view>

namespace fallow::telemetry {

class LogSelection {
 public:
  // Selects nothing.
  LogSelection() = default;
  explicit LogSelection(std::string_view specification);

  // Whether the section itself is written, and whether its lines are.
  bool wants_section(const char* category) const noexcept;
  bool wants_lines() const noexcept { return mode_ == Mode::kPrefixes; }

  bool nothing() const noexcept { return mode_ == Mode::kNothing; }

  // The file name as given: "-" is standard error.
  const std::string& file_pattern() const noexcept { return file_; }
  bool file_per_process() const noexcept;
  // With the first "%d" replaced.
  std::string file_name() const;

 private:
  enum class Mode { kNothing, kProfile, kPrefixes };

  Mode mode_ = Mode::kNothing;
  std::string prefixes_;  // separated by commas; an empty one matches everything
  std::string file_;
};

}  // namespace fallow::telemetry
