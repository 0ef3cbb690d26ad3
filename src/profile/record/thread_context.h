#pragma once

#include <cstdint>

namespace fallow::profile {

struct Stream;

/// What a thread keeps for the recorder. In static thread-local storage, so that reading it never
/// allocates, not even in a signal handler.
struct ThreadContext {
  Stream* stream = nullptr;
  std::uint32_t generation = 0;  ///< of the recording that the stream belongs to
  std::uint32_t inside = 0;      ///< the recorder is at work: allocations are its own
  std::uintptr_t stack_low = 0;  ///< of the stack in use; see set_stack_bounds
  std::uintptr_t stack_high = 0;
  std::uintptr_t own_stack_low = 0;  ///< of the thread's own, once known
  std::uintptr_t own_stack_high = 0;
};

extern thread_local constinit ThreadContext thread_context [[gnu::tls_model("initial-exec")]];

/// While one exists, nothing that the thread allocates is sampled.
class InsideProfile {
 public:
  InsideProfile() noexcept { ++thread_context.inside; }
  ~InsideProfile() { --thread_context.inside; }
  InsideProfile(const InsideProfile&) = delete;
  InsideProfile& operator=(const InsideProfile&) = delete;
};

}  // namespace fallow::profile
