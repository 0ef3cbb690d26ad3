// The test program's operator new, which can be made to refuse. ThreadSanitizer's runtime has its
// own, which cannot be replaced: there this file is left out.
#include <cstddef>
#include <cstdlib>
#include <new>

#include "tests/heap/refused_new.h"

void* operator new(std::size_t bytes) { return fallow::test::allocate_or_refuse(bytes); }
void* operator new[](std::size_t bytes) { return fallow::test::allocate_or_refuse(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return fallow::test::allocate_or_refuse(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
