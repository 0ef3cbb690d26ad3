// What the calling thread is inside of: calls of registered objects, and pressure windows.
#pragma once

#include <cstdint>

namespace fallow::device::detail {

/// Marks the calling thread as being inside `what` while it exists.
class ThreadFrame {
 public:
  explicit ThreadFrame(const void* what) noexcept;
  ~ThreadFrame();
  ThreadFrame(const ThreadFrame&) = delete;
  ThreadFrame& operator=(const ThreadFrame&) = delete;

  /// How often the calling thread is inside `what`.
  static std::uint32_t depth(const void* what) noexcept;

 private:
  const void* const what_;
  ThreadFrame* const outer_;
};

}  // namespace fallow::device::detail
