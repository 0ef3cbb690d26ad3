// operator new, so that the stack of a sample begins with the function that says `new`: the C++
// library's own version has no frame pointer and hides its caller. operator delete calls free.
#include <cstdlib>
#include <new>

#include "profile/malloc/malloc_profile.h"
#include "profile/malloc/real_allocator.h"

using fallow::profile::MallocProfile;
using fallow::profile::real_allocator;

namespace {

/// As the standard wants it: asks the new-handler until there is memory or it gives up.
template <class Allocate>
[[gnu::always_inline]] inline void* until_there_is(Allocate&& allocate) {
  for (;;) {
    if (void* const block = allocate()) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

[[gnu::always_inline]] inline void* allocate(std::size_t bytes, const void* caller) {
  void* const block =
      until_there_is([bytes] { return real_allocator.malloc(bytes == 0 ? 1 : bytes); });
  MallocProfile::note_allocated(block, bytes, caller);
  return block;
}

[[gnu::always_inline]] inline void* allocate(std::size_t bytes, std::align_val_t alignment,
                                             const void* caller) {
  void* const block = until_there_is([=] {
    return real_allocator.memalign(static_cast<std::size_t>(alignment), bytes == 0 ? 1 : bytes);
  });
  MallocProfile::note_allocated(block, bytes, caller);
  return block;
}

template <class... Arguments>
[[gnu::always_inline]] inline void* allocate_or_null(Arguments... arguments) noexcept {
  try {
    return allocate(arguments...);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

#define FALLOW_EXPORTED [[gnu::visibility("default")]]

FALLOW_EXPORTED void* operator new(std::size_t bytes) {
  return allocate(bytes, __builtin_frame_address(0));
}
FALLOW_EXPORTED void* operator new[](std::size_t bytes) {
  return allocate(bytes, __builtin_frame_address(0));
}
FALLOW_EXPORTED void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes, __builtin_frame_address(0));
}
FALLOW_EXPORTED void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes, __builtin_frame_address(0));
}
FALLOW_EXPORTED void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, alignment, __builtin_frame_address(0));
}
FALLOW_EXPORTED void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, alignment, __builtin_frame_address(0));
}
FALLOW_EXPORTED void* operator new(std::size_t bytes, std::align_val_t alignment,
                                   const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes, alignment, __builtin_frame_address(0));
}
FALLOW_EXPORTED void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes, alignment, __builtin_frame_address(0));
}

FALLOW_EXPORTED void operator delete(void* block) noexcept { std::free(block); }
FALLOW_EXPORTED void operator delete[](void* block) noexcept { std::free(block); }
FALLOW_EXPORTED void operator delete(void* block, std::size_t) noexcept { std::free(block); }
FALLOW_EXPORTED void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
FALLOW_EXPORTED void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
FALLOW_EXPORTED void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
FALLOW_EXPORTED void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}
FALLOW_EXPORTED void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}
