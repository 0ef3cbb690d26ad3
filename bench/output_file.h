#pragma once

#include <string>

namespace fallow::bench {

/// A file that is written at the end of some work, and refused at the beginning when it cannot be.
class OutputFile {
 public:
  /// Opens the file, to see whether that is permitted, and leaves what it holds. Throws
  /// OptionError.
  explicit OutputFile(std::string path);
  /// Removes the file when it is new and nothing was written.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Replaces what the file holds. Throws std::runtime_error.
  void write(const std::string& text);

 private:
  std::string path_;
  bool new_and_empty_;
};

}  // namespace fallow::bench
