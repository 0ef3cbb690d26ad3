#pragma once

#include <cstddef>

namespace fallow::profile {

/// The allocator that the program would use without us: the next one in the order of libraries.
///
/// Thread-safe. Works at any time, even before the dynamic loader has found that allocator: until
/// then memory comes from a small area that is never freed.
struct RealAllocator {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*valloc)(std::size_t);
  void* (*pvalloc)(std::size_t);
};

extern RealAllocator real_allocator;

/// Whether a block comes from the early area.
bool is_early_block(const void* block) noexcept;

/// Looks the functions up. Called by whatever comes first.
void find_real_allocator() noexcept;

}  // namespace fallow::profile
