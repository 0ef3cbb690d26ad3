#pragma once

#include <deque>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/output_file.h"

namespace fallow::bench {

/// The files for the pictures of a benchmark, refused before anything is measured when they cannot
/// be written.
class PictureFiles {
 public:
  /// Throws BadOption.
  PictureFiles(const std::vector<Picture>& pictures, const std::string& folder);

  /// Draws and returns the names of the files. Throws std::runtime_error.
  std::vector<std::string> write(const std::vector<Measured>& rows);

 private:
  const std::vector<Picture>& pictures_;
  std::deque<OutputFile> files_;
};

}  // namespace fallow::bench
