#include "platform/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "platform/write_all.h"
#include "platform/write_signals.h"

namespace fallow::platform {
namespace {

std::string describe(const char* what, const std::string& path, int error) {
  return std::string("cannot ") + what + " '" + path +
         "': " + std::generic_category().message(error);
}

}  // namespace

std::string OutputFile::open(const std::string& path) {
  close();
  constexpr mode_t kMode = 0666;
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, kMode);
  if (descriptor < 0) return describe("open", path, errno);
  descriptor_ = descriptor;
  owned_ = true;
  path_ = path;
  return {};
}

void OutputFile::use_standard_error() noexcept {
  close();
  descriptor_ = STDERR_FILENO;
  path_.assign("stderr");
}

bool OutputFile::is_terminal() const noexcept { return is_open() && isatty(descriptor_) == 1; }

std::string OutputFile::write(std::string_view text) {
  const int errno_before = errno;
  int error;
  {
    const WriteSignalsHeld held;
    error = write_all(descriptor_, text);
  }
  errno = errno_before;
  return error == 0 ? std::string() : describe("write", path_, error);
}

void OutputFile::close() noexcept {
  if (owned_) ::close(descriptor_);
  owned_ = false;
  descriptor_ = -1;
}

}  // namespace fallow::platform
