// Memory refused to operator new, at will.
#pragma once

#include "platform/sanitizer.h"

namespace fallow::test {

/// ThreadSanitizer's runtime has its own operator new, which cannot be replaced.
inline constexpr bool kNewCanBeRefused = !platform::thread_sanitizer_active();

/// While one exists, operator new throws std::bad_alloc in every thread of the test program, once
/// `permitted` calls have succeeded. Without effect where kNewCanBeRefused is false.
class NewRefused {
 public:
  explicit NewRefused(int permitted = 0) noexcept;
  ~NewRefused();
  NewRefused(const NewRefused&) = delete;
  NewRefused& operator=(const NewRefused&) = delete;

  /// Calls that were refused since the start of the program.
  static int count() noexcept;
};

}  // namespace fallow::test
