#pragma once

#include <cstddef>
#include <string>

namespace fallow::bench {

/// One line on standard error that says which row is being measured. Silent unless that is a
/// terminal that can rewrite a line.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::size_t done, std::size_t all, const std::string& row);
  /// Removes the line, for other output or at the end.
  void clear();

 private:
  bool active_;
  bool visible_ = false;
};

}  // namespace fallow::bench
