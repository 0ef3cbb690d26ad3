#include "platform/resident.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "platform/virtual_memory.h"

namespace fallow::platform {
namespace {

// read() that is not disturbed by signals.
ssize_t read_some(int file, char* buffer, size_t bytes) noexcept {
  for (;;) {
    const ssize_t got = read(file, buffer, bytes);
    if (got >= 0 || errno != EINTR) return got;
  }
}

// Reads the beginning of a file as text; an empty text on failure.
void read_text(const char* path, char* buffer, size_t capacity) noexcept {
  size_t length = 0;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    while (length + 1 < capacity) {
      const ssize_t got = read_some(file, buffer + length, capacity - 1 - length);
      if (got <= 0) break;
      length += static_cast<size_t>(got);
    }
    close(file);
  }
  buffer[length] = '\0';
}

}  // namespace

size_t resident_bytes() noexcept {
  char text[256];
  read_text("/proc/self/statm", text, sizeof text);
  const char* const second = std::strchr(text, ' ');  // total, then resident, in pages
  if (second == nullptr) return 0;
  return static_cast<size_t>(std::strtoull(second, nullptr, 10)) * page_size();
}

size_t peak_resident_bytes() noexcept {
  char text[4096];
  read_text("/proc/self/status", text, sizeof text);
  constexpr char kLabel[] = "VmHWM:";
  const char* const line = std::strstr(text, kLabel);
  if (line == nullptr) return 0;
  return static_cast<size_t>(std::strtoull(line + sizeof kLabel - 1, nullptr, 10)) * 1024;
}

size_t mapping_count() noexcept {
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  size_t lines = 0;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read_some(file, buffer, sizeof buffer);
    if (got <= 0) break;
    for (ssize_t i = 0; i < got; ++i) lines += buffer[i] == '\n' ? 1 : 0;
  }
  close(file);
  return lines;
}

bool reset_peak_resident() noexcept {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = write(file, "5", 1) == 1;
  close(file);
  return done;
}

}  // namespace fallow::platform
