#include "platform/fatal.h"

#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace fallow::platform {
namespace {

constexpr size_t kMessageCapacity = 1024;

std::atomic<FatalHandler> current_handler{nullptr};

// One write, so that messages of several threads do not mix; no stdio, whose lock may be held.
void write_message(const char* message) noexcept {
  char text[kMessageCapacity + 16];
  const int length = std::snprintf(text, sizeof text, "fallow: %s\n", message);
  if (length > 0) {
    [[maybe_unused]] const ssize_t ignored =
        write(STDERR_FILENO, text, static_cast<size_t>(length));
  }
}

}  // namespace

void fatal(const char* format, ...) {
  char message[kMessageCapacity];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (const FatalHandler handler = current_handler.load(std::memory_order_acquire)) {
    handler(message);
  } else {
    write_message(message);
  }
  std::abort();
}

FatalHandler set_fatal_handler(FatalHandler handler) noexcept {
  return current_handler.exchange(handler, std::memory_order_acq_rel);
}

}  // namespace fallow::platform
