#pragma once

#include <string_view>

namespace fallow::bench {

/// One line on standard error that is written over again, for progress. Silent unless that is a
/// terminal that can rewrite a line.
class TerminalLine {
 public:
  TerminalLine();
  ~TerminalLine() { clear(); }
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;

  /// Whether write() shows anything; saves preparing the text.
  [[nodiscard]] bool active() const { return active_; }
  void write(std::string_view text);
  /// Removes the line, for other output or at the end.
  void clear();

 private:
  bool active_;
  bool visible_ = false;
};

}  // namespace fallow::bench
