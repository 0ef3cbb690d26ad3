// What the tests of all layers share.
#pragma once

#include <unistd.h>

#include <cstddef>

#include "platform/sanitizer.h"

namespace fallow::test {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

inline constexpr bool kSanitized =
    platform::address_sanitizer_active() || platform::thread_sanitizer_active();

/// Ends the program with SIGALRM when a test hangs. No test judges by the time that it takes.
class Watchdog {
 public:
  explicit Watchdog(unsigned seconds = 120) { alarm(kSanitized ? seconds * 2 : seconds); }
  ~Watchdog() { alarm(0); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace fallow::test
