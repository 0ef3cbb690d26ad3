#include "profile/malloc/real_allocator.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace fallow::profile {

namespace {

// What the loader itself needs while it looks for the functions: some hundred bytes.
constexpr std::size_t kEarlyBytes = std::size_t{64} << 10;
constexpr std::size_t kAlignment = 16;
alignas(4096) std::byte early_area[kEarlyBytes];
std::atomic<std::size_t> early_used{0};
std::atomic<bool> is_searching{false};

void* early_malloc(std::size_t bytes, std::size_t alignment = kAlignment) noexcept {
  if (bytes > kEarlyBytes || alignment > kEarlyBytes) return nullptr;
  const std::size_t need = bytes + alignment + kAlignment;
  const std::size_t start = early_used.fetch_add((need + kAlignment - 1) & ~(kAlignment - 1));
  if (start + need > kEarlyBytes) return nullptr;
  const std::size_t block = (start + alignment - 1) & ~(alignment - 1);
  return early_area + block;
}

template <class Function>
void find(Function*& function, const char* name) noexcept {
  // The way POSIX prescribes.
  *reinterpret_cast<void**>(&function) = dlsym(RTLD_NEXT, name);
}

// The first calls of each function: they look for the real ones, and go there.
bool is_ready() noexcept {
  find_real_allocator();
  return !is_searching.load();
}

void* first_malloc(std::size_t bytes) {
  return is_ready() ? real_allocator.malloc(bytes) : early_malloc(bytes);
}
void first_free(void* block) {
  if (is_ready()) real_allocator.free(block);
}
void* first_calloc(std::size_t count, std::size_t each) {
  if (is_ready()) return real_allocator.calloc(count, each);
  // The area is zero, and nothing of it is used twice.
  return each != 0 && count > kEarlyBytes / each ? nullptr : early_malloc(count * each);
}
void* first_realloc(void* block, std::size_t bytes) {
  if (is_ready()) return real_allocator.realloc(block, bytes);
  return block == nullptr ? early_malloc(bytes) : nullptr;
}
void* first_memalign(std::size_t alignment, std::size_t bytes) {
  return is_ready() ? real_allocator.memalign(alignment, bytes) : early_malloc(bytes, alignment);
}
int first_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  if (is_ready()) return real_allocator.posix_memalign(block, alignment, bytes);
  *block = early_malloc(bytes, alignment);
  return *block == nullptr ? ENOMEM : 0;
}
void* first_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return is_ready() ? real_allocator.aligned_alloc(alignment, bytes)
                    : early_malloc(bytes, alignment);
}
void* first_valloc(std::size_t bytes) {
  return is_ready() ? real_allocator.valloc(bytes) : nullptr;
}
void* first_pvalloc(std::size_t bytes) {
  return is_ready() ? real_allocator.pvalloc(bytes) : nullptr;
}

}  // namespace

RealAllocator real_allocator = {first_malloc,        first_free,     first_calloc,
                                first_realloc,       first_memalign, first_posix_memalign,
                                first_aligned_alloc, first_valloc,   first_pvalloc};

bool is_early_block(const void* block) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const auto start = reinterpret_cast<std::uintptr_t>(early_area);
  return address - start < kEarlyBytes;
}

void find_real_allocator() noexcept {
  if (real_allocator.malloc != first_malloc || is_searching.exchange(true)) return;
  RealAllocator found{};
  find(found.malloc, "malloc");
  find(found.free, "free");
  find(found.calloc, "calloc");
  find(found.realloc, "realloc");
  find(found.memalign, "memalign");
  find(found.posix_memalign, "posix_memalign");
  find(found.aligned_alloc, "aligned_alloc");
  find(found.valloc, "valloc");
  find(found.pvalloc, "pvalloc");
  real_allocator = found;
  is_searching.store(false);
}

}  // namespace fallow::profile
