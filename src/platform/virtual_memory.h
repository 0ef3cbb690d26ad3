// Reserving, committing and returning address space: the only way fallow talks to the kernel
// about memory.
//
// A range passes through these states:
//   reserved   inaccessible address space, no memory behind it (reserve, uncommit)
//   committed  readable and writable; pages appear zeroed on first touch (commit)
//   decommitted  still readable and writable, but its pages were handed back (decommit)
//
// Units: bytes. Addresses and sizes given to every function except `reserve` and `release` must be
// multiples of page_size(); those two round sizes up to pages themselves.
// Thread-safety: all functions may be called from any thread; ranges used concurrently must not
// overlap. None of them allocates from malloc or throws.
// Errors: reported by the return value; functions that return void cannot fail in a way that
// matters to correctness.
#pragma once

#include <cstddef>

namespace fallow::platform {

// Size of a page of the running kernel; a power of two.
size_t page_size() noexcept;

// Reserves `bytes` of address space whose start is a multiple of `alignment` (a power of two; 0 or
// anything below a page means a page). Costs no memory, and is not counted by the kernel's
// overcommit heuristic. Returns nullptr when bytes is 0, when the rounding overflows, when
// `alignment` is no power of two, and when the kernel refuses.
void* reserve(size_t bytes, size_t alignment) noexcept;

// Gives back a whole reservation. The address space may be reused by anybody afterwards.
void release(void* start, size_t bytes) noexcept;

// Makes a range readable and writable. False when the kernel refuses (memory, commit limit, or
// number of mappings); the range is then unchanged or partly committed, and may be tried again or
// uncommitted.
[[nodiscard]] bool commit(void* start, size_t bytes) noexcept;

// Hands the pages of a committed range back. The contents are lost and read as zero; the range
// stays usable without a further commit, and the number of mappings does not change.
void decommit(void* start, size_t bytes) noexcept;

// Turns a range back into reserved space: pages handed back, accesses fault. The range never stops
// belonging to its reservation, so nobody else can take the addresses meanwhile.
void uncommit(void* start, size_t bytes) noexcept;

// Allows or forbids any access to a committed range and keeps its contents; for nurseries that are
// protected to catch stale references. False when the kernel refuses (number of mappings).
[[nodiscard]] bool set_accessible(void* start, size_t bytes, bool accessible) noexcept;

// Asks for or against transparent huge pages in a range. Advice only.
void advise_huge_pages(void* start, size_t bytes, bool wanted) noexcept;

// Labels a range in /proc/self/maps as [anon:name] where the kernel supports it, else does
// nothing. `name` is copied; printable ASCII without []\$` and at most 79 characters. Differently
// named neighbours count as separate mappings.
void name_range(void* start, size_t bytes, const char* name) noexcept;

// The soft limit on address space (RLIMIT_AS), or SIZE_MAX when there is none.
size_t address_space_limit() noexcept;

// Failure injection, for tests. Counting is process-wide; an unarmed check costs one relaxed load.
// Thread-safe: with several threads exactly n calls succeed, whichever come first.
struct MemoryFaults {
  // The next n calls of commit() behave normally, all later ones fail. A negative n disarms.
  static void fail_commit_after(long n);
  // The same for reserve().
  static void fail_reserve_after(long n);
  // Disarms both and sets the counter to zero.
  static void clear();
  // Calls of commit() since the start of the process or the last clear(), failed ones included.
  static long commits_seen();
};

}  // namespace fallow::platform
