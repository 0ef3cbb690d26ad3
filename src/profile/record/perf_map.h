#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/record/functions.h"

namespace fallow::profile {

/// Follows the file in which a JIT compiler lists its code for perf: a line each, "START SIZE
/// NAME" in hexadecimal. Not thread-safe.
class PerfMap {
 public:
  /// For the calling process; forgets what was read before.
  void start();
  /// Appends what the file says since the last call; nothing while there is no file.
  void read_new(std::vector<CodeRange>& code);

  /// One line; false when it is none.
  static bool parse(const std::string& line, CodeRange& range);

 private:
  std::string path_;
  std::uint64_t position_ = 0;
};

}  // namespace fallow::profile
