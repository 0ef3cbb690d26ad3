#include "platform/resident.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "platform/sanitizer.h"
#include "platform/virtual_memory.h"

namespace fallow::platform {
namespace {

constexpr size_t kSize = size_t{64} << 20;

TEST(Resident, FollowsTouchedMemory) {
  if (address_sanitizer_active() || thread_sanitizer_active()) {
    GTEST_SKIP() << "sanitizers keep shadow memory";
  }
  const bool can_reset = reset_peak_resident();
  const size_t before = resident_bytes();
  EXPECT_GT(before, 0u);
  void* const start = reserve(kSize, 0);
  ASSERT_TRUE(commit(start, kSize));
  EXPECT_LT(resident_bytes(), before + kSize / 4);
  std::memset(start, 1, kSize);
  // The kernel adds up per-thread counters late, so leave some room.
  EXPECT_GE(resident_bytes(), before + kSize - kSize / 16);
  release(start, kSize);
  EXPECT_LT(resident_bytes(), before + kSize / 4);
  EXPECT_GE(peak_resident_bytes(), before + kSize / 2);
  if (!can_reset) GTEST_SKIP() << "the kernel offers no reset of the peak";
  ASSERT_TRUE(reset_peak_resident());
  EXPECT_LT(peak_resident_bytes(), before + kSize / 4);
}

TEST(Resident, PeakIsAtLeastTheCurrentSize) {
  const size_t now = resident_bytes();
  EXPECT_GE(peak_resident_bytes() + (size_t{1} << 20), now);
}

TEST(Resident, CountsMappings) {
  const size_t before = mapping_count();
  EXPECT_GT(before, 5u);
  constexpr size_t kHoles = 50;
  char* const start = static_cast<char*>(reserve(2 * kHoles * page_size(), 0));
  for (size_t i = 0; i < kHoles; ++i) {
    ASSERT_TRUE(commit(start + 2 * i * page_size(), page_size()));
  }
  EXPECT_GE(mapping_count(), before + 2 * kHoles - 4);
  release(start, 2 * kHoles * page_size());
  EXPECT_LE(mapping_count(), before + 4);
}

}  // namespace
}  // namespace fallow::platform
