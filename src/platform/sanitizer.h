// Telling AddressSanitizer which heap bytes are not to be touched. Without it, everything here
// compiles to nothing.
//
// Poisoning has the granularity of AddressSanitizer: addresses and sizes should be multiples of 8.
// Memory given back by platform::release is unpoisoned there.
// Thread-safety: any thread, on disjoint ranges.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define FALLOW_PLATFORM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FALLOW_PLATFORM_ASAN 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define FALLOW_PLATFORM_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FALLOW_PLATFORM_TSAN 1
#endif
#endif

#if defined(FALLOW_PLATFORM_ASAN)
extern "C" void __asan_poison_memory_region(void const volatile* start, size_t bytes);
extern "C" void __asan_unpoison_memory_region(void const volatile* start, size_t bytes);
extern "C" int __asan_address_is_poisoned(void const volatile* address);
#endif

namespace fallow::platform {

constexpr bool address_sanitizer_active() noexcept {
#if defined(FALLOW_PLATFORM_ASAN)
  return true;
#else
  return false;
#endif
}

constexpr bool thread_sanitizer_active() noexcept {
#if defined(FALLOW_PLATFORM_TSAN)
  return true;
#else
  return false;
#endif
}

// From now on an access to the range is reported.
inline void poison([[maybe_unused]] const void* start, [[maybe_unused]] size_t bytes) noexcept {
#if defined(FALLOW_PLATFORM_ASAN)
  __asan_poison_memory_region(start, bytes);
#endif
}

// The range may be accessed again.
inline void unpoison([[maybe_unused]] const void* start, [[maybe_unused]] size_t bytes) noexcept {
#if defined(FALLOW_PLATFORM_ASAN)
  __asan_unpoison_memory_region(start, bytes);
#endif
}

// Whether an access to this byte would be reported; false without AddressSanitizer.
inline bool is_poisoned([[maybe_unused]] const void* address) noexcept {
#if defined(FALLOW_PLATFORM_ASAN)
  return __asan_address_is_poisoned(address) != 0;
#else
  return false;
#endif
}

}  // namespace fallow::platform
