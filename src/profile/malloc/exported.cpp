// The functions that the library puts in front of the C library's.
#include <cerrno>
#include <cstddef>

#include "profile/malloc/malloc_profile.h"
#include "profile/malloc/real_allocator.h"

using fallow::SampleId;
using fallow::profile::is_early_block;
using fallow::profile::MallocProfile;
using fallow::profile::real_allocator;

#define FALLOW_EXPORTED extern "C" [[gnu::visibility("default")]]

FALLOW_EXPORTED void* malloc(std::size_t bytes) {
  void* const block = real_allocator.malloc(bytes);
  MallocProfile::note_allocated(block, bytes, __builtin_frame_address(0));
  return block;
}

FALLOW_EXPORTED void free(void* block) {
  if (block == nullptr || is_early_block(block)) return;
  MallocProfile::note_freed(block);
  real_allocator.free(block);
}

FALLOW_EXPORTED void* calloc(std::size_t count, std::size_t each) {
  void* const block = real_allocator.calloc(count, each);
  // The product is right whenever there is a block.
  if (block != nullptr) {
    MallocProfile::note_allocated(block, count * each, __builtin_frame_address(0));
  }
  return block;
}

namespace {

// Taken out first: as soon as the old block is free, another thread may get it.
[[gnu::always_inline]] inline void* reallocate(void* block, std::size_t bytes, const void* caller) {
  if (block != nullptr && is_early_block(block)) {
    // Its size is not known; the area behind it can be read.
    void* const fresh = real_allocator.malloc(bytes);
    if (fresh != nullptr) __builtin_memcpy(fresh, block, bytes < 4096 ? bytes : 4096);
    return fresh;
  }
  const SampleId id = block == nullptr ? 0 : MallocProfile::take_out(block);
  void* const fresh = real_allocator.realloc(block, bytes);
  if (fresh == nullptr && bytes != 0) {
    if (id != 0) MallocProfile::restore(block, id);
    return nullptr;
  }
  if (id != 0) MallocProfile::tell_freed(id);
  if (fresh != nullptr) MallocProfile::note_allocated(fresh, bytes, caller);
  return fresh;
}

}  // namespace

FALLOW_EXPORTED void* realloc(void* block, std::size_t bytes) {
  return reallocate(block, bytes, __builtin_frame_address(0));
}

FALLOW_EXPORTED void* reallocarray(void* block, std::size_t count, std::size_t each) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, each, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return reallocate(block, bytes, __builtin_frame_address(0));
}

FALLOW_EXPORTED void* memalign(std::size_t alignment, std::size_t bytes) {
  void* const block = real_allocator.memalign(alignment, bytes);
  MallocProfile::note_allocated(block, bytes, __builtin_frame_address(0));
  return block;
}

FALLOW_EXPORTED int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  const int error = real_allocator.posix_memalign(block, alignment, bytes);
  if (error == 0) MallocProfile::note_allocated(*block, bytes, __builtin_frame_address(0));
  return error;
}

FALLOW_EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  void* const block = real_allocator.aligned_alloc(alignment, bytes);
  MallocProfile::note_allocated(block, bytes, __builtin_frame_address(0));
  return block;
}

FALLOW_EXPORTED void* valloc(std::size_t bytes) {
  void* const block = real_allocator.valloc(bytes);
  MallocProfile::note_allocated(block, bytes, __builtin_frame_address(0));
  return block;
}

FALLOW_EXPORTED void* pvalloc(std::size_t bytes) {
  void* const block = real_allocator.pvalloc(bytes);
  MallocProfile::note_allocated(block, bytes, __builtin_frame_address(0));
  return block;
}
