#pragma once

#include <atomic>
#include <cstddef>

#include "fallow/type.h"

namespace fallow::detail {

/// Runs a destructor; checked builds stop the program if it touches managed memory.
void run_destructor(const TypeDescriptor& type, Object* object) noexcept;

/// Bytes of dead objects whose destructors the reclaimer thread runs. A stack without a lock: many
/// collections of one heap add, one thread at a time takes all.
class DeadBytes {
 public:
  DeadBytes() = default;
  ~DeadBytes() { destroy_all(); }
  DeadBytes(const DeadBytes&) = delete;
  DeadBytes& operator=(const DeadBytes&) = delete;

  /// Keeps a copy of the object; false when there is no memory for it.
  bool add(const Object* object, std::size_t bytes, const TypeDescriptor& type) noexcept;
  [[nodiscard]] bool empty() const noexcept {
    return first_.load(std::memory_order_relaxed) == nullptr;
  }
  /// Destroys all that are here now; returns how many.
  std::size_t destroy_all() noexcept;

 private:
  struct Copy;
  std::atomic<Copy*> first_{nullptr};
};

}  // namespace fallow::detail
