#include "profile/record/thread_context.h"

#include "fallow/profile_frame.h"

namespace fallow::profile {

thread_local constinit ThreadContext thread_context;

namespace detail {
thread_local constinit ThreadFrames thread_frames;
}  // namespace detail

void set_stack_bounds(const void* low, const void* high) noexcept {
  ThreadContext& context = thread_context;
  const bool own = low == nullptr || high == nullptr;
  context.stack_low = own ? context.own_stack_low : reinterpret_cast<std::uintptr_t>(low);
  context.stack_high = own ? context.own_stack_high : reinterpret_cast<std::uintptr_t>(high);
}

}  // namespace fallow::profile
