// A line of progress on standard error. Silent unless that is a terminal that can rewrite a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/terminal_line.h"

namespace fallow::tool {

class Progress {
 public:
  Progress();

  // Shows a bar, at most some times a second. Cheap in between: one look at the clock.
  void show(std::string_view label, std::uint64_t done, std::uint64_t total);
  // Shows a text where the total is not known, under the same rule.
  void show(std::string_view label, std::string_view state);
  // Whether a call of show() would write now; saves preparing the text.
  [[nodiscard]] bool is_due() const;
  // Removes the line, for other output or at the end.
  void clear() { line_.clear(); }

 private:
  void write(std::string_view line);

  bench::TerminalLine line_;
  std::uint64_t next_ns_;
};

// The bar alone: "[#####-----]  50 %".
std::string progress_bar(std::uint64_t done, std::uint64_t total);

}  // namespace fallow::tool
