// Memory refused to operator new, at will.
#pragma once

#include <cstddef>

#include "platform/sanitizer.h"

namespace fallow::test {

/// See replaced_new.cpp.
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

/// What operator new does: memory from malloc, or std::bad_alloc.
void* allocate_or_refuse(std::size_t bytes);

}  // namespace fallow::test
