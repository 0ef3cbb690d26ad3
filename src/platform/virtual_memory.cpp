#include "platform/virtual_memory.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "platform/sanitizer.h"

namespace fallow::platform {
namespace {

constexpr long kDisarmed = -1;

std::atomic<bool> faults_armed{false};
std::atomic<long> commits_left{kDisarmed};
std::atomic<long> reserves_left{kDisarmed};
std::atomic<long> commit_calls{0};

// Takes one call from a budget; true when the budget is used up.
bool budget_exhausted(std::atomic<long>& left) noexcept {
  long now = left.load(std::memory_order_relaxed);
  while (now > 0) {
    if (left.compare_exchange_weak(now, now - 1, std::memory_order_relaxed)) return false;
  }
  return now == 0;
}

bool injected(std::atomic<long>& left) noexcept {
  if (!faults_armed.load(std::memory_order_relaxed)) [[likely]] {
    return false;
  }
  return budget_exhausted(left);
}

void arm(std::atomic<long>& left, long n) noexcept {
  left.store(n < 0 ? kDisarmed : n, std::memory_order_relaxed);
  faults_armed.store(commits_left.load(std::memory_order_relaxed) != kDisarmed ||
                         reserves_left.load(std::memory_order_relaxed) != kDisarmed,
                     std::memory_order_relaxed);
}

// Rounds up to pages; 0 when that overflows.
size_t round_to_pages(size_t bytes) noexcept {
  const size_t mask = page_size() - 1;
  return bytes > SIZE_MAX - mask ? 0 : (bytes + mask) & ~mask;
}

}  // namespace

size_t page_size() noexcept {
  static const size_t size = [] {
    const long answer = sysconf(_SC_PAGESIZE);
    return answer > 0 ? static_cast<size_t>(answer) : size_t{4096};
  }();
  return size;
}

void* reserve(size_t bytes, size_t alignment) noexcept {
  if (injected(reserves_left)) return nullptr;
  if ((alignment & (alignment - 1)) != 0) return nullptr;
  if (alignment < page_size()) alignment = page_size();
  const size_t wanted = round_to_pages(bytes);
  if (wanted == 0) return nullptr;
  // mmap aligns to pages, so this much more always contains an aligned range.
  const size_t extra = alignment - page_size();
  if (wanted > SIZE_MAX - extra) return nullptr;
  const size_t total = wanted + extra;
  void* const mapping =
      mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(mapping);
  const size_t misfit = reinterpret_cast<uintptr_t>(mapping) & (alignment - 1);
  const size_t before = misfit == 0 ? 0 : alignment - misfit;
  const size_t behind = total - before - wanted;
  if (before != 0) munmap(first, before);
  if (behind != 0) munmap(first + before + wanted, behind);
  // Debuggers write what is only reserved into core files, too.
  madvise(first + before, wanted, MADV_DONTDUMP);
  return first + before;
}

void release(void* start, size_t bytes) noexcept {
  const size_t length = round_to_pages(bytes);
  if (start == nullptr || length == 0) return;
  // Whoever gets these addresses next must not inherit our poison.
  unpoison(start, length);
  munmap(start, length);
}

bool commit(void* start, size_t bytes) noexcept {
  commit_calls.fetch_add(1, std::memory_order_relaxed);
  if (injected(commits_left)) return false;
  if (mprotect(start, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  madvise(start, bytes, MADV_DODUMP);
  return true;
}

void decommit(void* start, size_t bytes) noexcept { madvise(start, bytes, MADV_DONTNEED); }

void uncommit(void* start, size_t bytes) noexcept {
  // Not mmap(MAP_FIXED): when that fails half-way the range no longer belongs to anybody. Should
  // mprotect fail instead, the range is empty but accessible, which harms nothing.
  madvise(start, bytes, MADV_DONTNEED);
  mprotect(start, bytes, PROT_NONE);
  madvise(start, bytes, MADV_DONTDUMP);
}

bool set_accessible(void* start, size_t bytes, bool accessible) noexcept {
  return mprotect(start, bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

void advise_huge_pages(void* start, size_t bytes, bool wanted) noexcept {
  madvise(start, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

void name_range(void* start, size_t bytes, const char* name) noexcept {
  constexpr int kSetVma = 0x53564d41;  // PR_SET_VMA, missing from older headers
  constexpr unsigned long kSetVmaAnonName = 0;
  prctl(kSetVma, kSetVmaAnonName, start, bytes, name);
}

size_t address_space_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur > SIZE_MAX ? SIZE_MAX : static_cast<size_t>(limit.rlim_cur);
}

void MemoryFaults::fail_commit_after(long n) { arm(commits_left, n); }

void MemoryFaults::fail_reserve_after(long n) { arm(reserves_left, n); }

void MemoryFaults::clear() {
  arm(commits_left, kDisarmed);
  arm(reserves_left, kDisarmed);
  commit_calls.store(0, std::memory_order_relaxed);
}

long MemoryFaults::commits_seen() { return commit_calls.load(std::memory_order_relaxed); }

}  // namespace fallow::platform
