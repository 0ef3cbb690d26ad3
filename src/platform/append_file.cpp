#include "platform/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "platform/write_all.h"
#include "platform/write_signals.h"

namespace fallow::platform {
namespace {

constexpr mode_t kMode = 0666;

// A file that is there already: a device is opened, a regular file emptied if that is permitted.
int open_existing(const char* path, bool overwrite, int* descriptor) noexcept {
  struct stat facts{};
  if (stat(path, &facts) != 0) return errno;
  if (S_ISDIR(facts.st_mode)) return EISDIR;
  if (S_ISREG(facts.st_mode) && !overwrite) return EEXIST;
  const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
                    (S_ISREG(facts.st_mode) ? O_TRUNC : 0);
  *descriptor = ::open(path, flags);
  return *descriptor < 0 ? errno : 0;
}

}  // namespace

int AppendFile::create(const std::string& path, bool overwrite) noexcept {
  close();
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, kMode);
  if (descriptor < 0) {
    if (errno != EEXIST) return errno;
    const int error = open_existing(path.c_str(), overwrite, &descriptor);
    if (error != 0) return error;
  }
  struct stat facts{};
  regular_ = fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
  descriptor_ = descriptor;
  size_ = 0;
  return 0;
}

int AppendFile::append(const void* bytes, size_t count) noexcept {
  const WriteSignalsHeld held;
  const int error = write_all(descriptor_, {static_cast<const char*>(bytes), count});
  if (error == 0) {
    size_ += count;
  } else if (regular_ && ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) {
    return error;  // what is half there stays; readers take what is sound
  }
  return error;
}

void AppendFile::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace fallow::platform
