// A file that is only appended to, written in whole pieces and without disturbing the program:
// a broken pipe or a file-size limit is an error code here, never a signal.
//
// Thread-safety: none; the owner serializes. Errors: texts such as "cannot open 'x': reason".
#pragma once

#include <string>
#include <string_view>

namespace fallow::platform {

class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile() { close(); }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Creates or empties a file; it is not inherited over exec. Empty text on success.
  std::string open(const std::string& path);

  // Writes to standard error, which close() leaves open.
  void use_standard_error() noexcept;

  bool is_open() const noexcept { return descriptor_ >= 0; }

  // Whether the output is shown on a terminal.
  bool is_terminal() const noexcept;

  // Writes all of `text`, waiting up to a second for a full pipe. Empty text on success; after a
  // failure an unknown part has been written. Preserves errno.
  std::string write(std::string_view text);

  void close() noexcept;

 private:
  int descriptor_ = -1;
  bool owned_ = false;
  std::string path_;
};

}  // namespace fallow::platform
