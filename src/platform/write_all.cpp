#include "platform/write_all.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace fallow::platform {

namespace {

bool wait_until_writable(int descriptor) noexcept {
  constexpr int kTimeoutMs = 1000;
  pollfd request{descriptor, POLLOUT, 0};
  const int ready = poll(&request, 1, kTimeoutMs);
  return ready > 0 || (ready < 0 && errno == EINTR);
}

}  // namespace

int write_all(int descriptor, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (written == 0) {
      return EIO;
    } else if (errno == EAGAIN) {
      if (!wait_until_writable(descriptor)) return EAGAIN;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace fallow::platform
