#include "platform/virtual_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "child_process.h"
#include "platform/resident.h"
#include "platform/sanitizer.h"

namespace fallow::platform {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class VirtualMemory : public testing::Test {
 protected:
  ~VirtualMemory() override { MemoryFaults::clear(); }
};

bool aligned(const void* address, size_t alignment) {
  return reinterpret_cast<uintptr_t>(address) % alignment == 0;
}

TEST_F(VirtualMemory, PageSizeIsAPowerOfTwo) {
  EXPECT_GE(page_size(), 4096u);
  EXPECT_EQ(page_size() & (page_size() - 1), 0u);
}

TEST_F(VirtualMemory, ReservationsAreAligned) {
  for (size_t alignment = 1; alignment <= 64 * kMiB; alignment *= 2) {
    void* const start = reserve(3 * page_size(), alignment);
    ASSERT_NE(start, nullptr) << alignment;
    EXPECT_TRUE(aligned(start, alignment)) << alignment;
    EXPECT_TRUE(aligned(start, page_size())) << alignment;
    release(start, 3 * page_size());
  }
}

// Address space in use by this process.
size_t virtual_bytes() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * page_size();
}

TEST_F(VirtualMemory, ReservingTrimsTheOverhang) {
  constexpr size_t kSize = 64 * kMiB;
  constexpr size_t kSlack = 8 * kMiB;  // for whatever else the process does meanwhile
  const size_t before = virtual_bytes();
  std::vector<void*> ranges;
  for (int i = 0; i < 4; ++i) ranges.push_back(reserve(kSize, 4 * kSize));
  EXPECT_LE(virtual_bytes(), before + 4 * kSize + kSlack);
  for (void* range : ranges) release(range, kSize);
  EXPECT_LE(virtual_bytes(), before + kSlack);
}

TEST_F(VirtualMemory, AbsurdRequestsFail) {
  EXPECT_EQ(reserve(0, 0), nullptr);
  EXPECT_EQ(reserve(page_size(), 3 * page_size()), nullptr);
  for (size_t k = 0; k <= 64; ++k) {
    EXPECT_EQ(reserve(SIZE_MAX - k, page_size()), nullptr);
    EXPECT_EQ(reserve(SIZE_MAX - k, kMiB), nullptr);
    EXPECT_EQ(reserve((SIZE_MAX >> 1) + k, kMiB), nullptr);
  }
  EXPECT_EQ(reserve(kMiB, size_t{1} << 63), nullptr);
  EXPECT_EQ(reserve(SIZE_MAX - page_size() + 1, 2 * page_size()), nullptr);
}

TEST_F(VirtualMemory, ReleaseOfNothingIsHarmless) {
  release(nullptr, page_size());
  release(nullptr, 0);
}

TEST_F(VirtualMemory, CommittedMemoryReadsZeroAndKeepsWhatIsWritten) {
  char* const start = static_cast<char*>(reserve(kMiB, kMiB));
  ASSERT_NE(start, nullptr);
  ASSERT_TRUE(commit(start, kMiB));
  EXPECT_EQ(start[0], 0);
  EXPECT_EQ(start[kMiB - 1], 0);
  std::memset(start, 7, kMiB);
  EXPECT_EQ(start[kMiB / 2], 7);
  decommit(start, kMiB);
  EXPECT_EQ(start[kMiB / 2], 0);
  start[1] = 1;  // usable without a further commit
  release(start, kMiB);
}

TEST_F(VirtualMemory, DecommitReturnsResidentMemory) {
  if (address_sanitizer_active() || thread_sanitizer_active()) {
    GTEST_SKIP() << "sanitizers keep shadow memory";
  }
  constexpr size_t kSize = 64 * kMiB;
  char* const start = static_cast<char*>(reserve(kSize, kMiB));
  ASSERT_NE(start, nullptr);
  ASSERT_TRUE(commit(start, kSize));
  const size_t before = resident_bytes();
  std::memset(start, 1, kSize);
  EXPECT_GE(resident_bytes(), before + kSize / 2);
  decommit(start, kSize / 2);
  uncommit(start + kSize / 2, kSize / 2);
  EXPECT_LE(resident_bytes(), before + kSize / 8);
  release(start, kSize);
}

TEST_F(VirtualMemory, DecommitDoesNotMultiplyMappings) {
  char* const start = static_cast<char*>(reserve(8 * kMiB, kMiB));
  ASSERT_TRUE(commit(start, 8 * kMiB));
  std::memset(start, 1, 8 * kMiB);
  const size_t before = mapping_count();
  for (size_t offset = 0; offset < 8 * kMiB; offset += 2 * page_size()) {
    decommit(start + offset, page_size());
  }
  EXPECT_LE(mapping_count(), before + 4);
  release(start, 8 * kMiB);
}

TEST_F(VirtualMemory, UncommittedRangeCanBeCommittedAgainAndIsZero) {
  char* const start = static_cast<char*>(reserve(kMiB, kMiB));
  ASSERT_TRUE(commit(start, kMiB));
  start[5] = 5;
  uncommit(start, kMiB);
  ASSERT_TRUE(commit(start, kMiB));
  EXPECT_EQ(start[5], 0);
  release(start, kMiB);
}

TEST_F(VirtualMemory, AccessibilityKeepsContents) {
  char* const start = static_cast<char*>(reserve(kMiB, kMiB));
  ASSERT_TRUE(commit(start, kMiB));
  start[9] = 9;
  ASSERT_TRUE(set_accessible(start, kMiB, false));
  ASSERT_TRUE(set_accessible(start, kMiB, true));
  EXPECT_EQ(start[9], 9);
  release(start, kMiB);
}

TEST_F(VirtualMemory, ForbiddenAccessFaults) {
  if (thread_sanitizer_active()) GTEST_SKIP() << "death tests fork";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  volatile char* const start = static_cast<char*>(reserve(kMiB, kMiB));
  char* const plain = const_cast<char*>(start);
  EXPECT_DEATH(start[0] = 1, "");
  ASSERT_TRUE(commit(plain, kMiB));
  ASSERT_TRUE(set_accessible(plain, kMiB, false));
  EXPECT_DEATH(start[0] = 1, "");
  ASSERT_TRUE(set_accessible(plain, kMiB, true));
  uncommit(plain, kMiB);
  EXPECT_DEATH(start[0] = 1, "");
  release(plain, kMiB);
}

TEST_F(VirtualMemory, AdviceAndNamesAreHarmless) {
  char* const start = static_cast<char*>(reserve(4 * kMiB, 2 * kMiB));
  ASSERT_TRUE(commit(start, 4 * kMiB));
  advise_huge_pages(start, 4 * kMiB, true);
  advise_huge_pages(start, 4 * kMiB, false);
  name_range(start, 4 * kMiB, "fallow: test");
  start[0] = 1;
  EXPECT_EQ(start[0], 1);
  release(start, 4 * kMiB);
}

TEST_F(VirtualMemory, CommitFailsAfterTheGivenNumber) {
  char* const start = static_cast<char*>(reserve(kMiB, kMiB));
  MemoryFaults::fail_commit_after(2);
  EXPECT_TRUE(commit(start, page_size()));
  EXPECT_TRUE(commit(start, page_size()));
  EXPECT_FALSE(commit(start, page_size()));
  EXPECT_FALSE(commit(start, page_size()));
  EXPECT_EQ(MemoryFaults::commits_seen(), 4);
  MemoryFaults::fail_commit_after(-1);
  EXPECT_TRUE(commit(start, page_size()));
  MemoryFaults::fail_commit_after(0);
  EXPECT_FALSE(commit(start, page_size()));
  MemoryFaults::clear();
  EXPECT_EQ(MemoryFaults::commits_seen(), 0);
  EXPECT_TRUE(commit(start, page_size()));
  release(start, kMiB);
}

TEST_F(VirtualMemory, ReserveFailsAfterTheGivenNumber) {
  MemoryFaults::fail_reserve_after(1);
  void* const start = reserve(kMiB, kMiB);
  EXPECT_NE(start, nullptr);
  EXPECT_EQ(reserve(kMiB, kMiB), nullptr);
  EXPECT_TRUE(commit(start, kMiB));  // independent of the other fault
  MemoryFaults::clear();
  release(start, kMiB);
}

TEST_F(VirtualMemory, FaultBudgetIsSharedByThreads) {
  char* const start = static_cast<char*>(reserve(kMiB, kMiB));
  MemoryFaults::fail_commit_after(100);
  std::atomic<int> successes{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        if (commit(start + t * page_size(), page_size())) ++successes;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(successes.load(), 100);
  EXPECT_EQ(MemoryFaults::commits_seen(), 200);
  release(start, kMiB);
}

TEST_F(VirtualMemory, ReleasedPoisonDoesNotSurvive) {
  char* const start = static_cast<char*>(reserve(kMiB, kMiB));
  ASSERT_TRUE(commit(start, kMiB));
  poison(start, kMiB);
  release(start, kMiB);
  EXPECT_FALSE(is_poisoned(start));
}

TEST_F(VirtualMemory, AddressSpaceLimitIsReported) {
  if (address_sanitizer_active() || thread_sanitizer_active()) {
    GTEST_SKIP() << "sanitizers need address space";
  }
  const int status = test::run_in_child([] {
    const rlimit limit{size_t{1} << 33, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
    if (address_space_limit() != size_t{1} << 33) return 2;
    return reserve(size_t{1} << 34, 0) == nullptr ? 0 : 3;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace fallow::platform
