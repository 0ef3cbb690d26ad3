// Spans of an address range, against a model that keeps a flag for each granule.
#include "heap/span_allocator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/heap/refused_new.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using detail::SpanAllocator;

constexpr std::size_t kGranule = 4096;
constexpr std::uintptr_t kBase = 16 * kGranule;
constexpr std::size_t kGranules = 64;

struct Model {
  std::vector<bool> used = std::vector<bool>(kGranules, false);
  std::map<std::uintptr_t, std::size_t> spans;  ///< in use: granules

  /// The smallest free stretch that fits, the lowest of these; 0 when there is none.
  [[nodiscard]] std::uintptr_t best_fit(std::size_t granules) const {
    std::size_t best = kGranules + 1;
    std::uintptr_t found = 0;
    for (std::size_t first = 0; first < kGranules;) {
      std::size_t last = first;
      while (last < kGranules && !used[last]) ++last;
      if (last - first >= granules && last - first < best) {
        best = last - first;
        found = kBase + first * kGranule;
      }
      first = last + 1;
    }
    return found;
  }
  void set(std::uintptr_t start, std::size_t granules, bool value) {
    for (std::size_t i = 0; i < granules; ++i) used[(start - kBase) / kGranule + i] = value;
  }
};

std::size_t free_granules(const SpanAllocator& allocator, std::uintptr_t end) {
  std::size_t bytes = 0;
  allocator.for_each_free(end, [&](std::uintptr_t, std::size_t span) { bytes += span; });
  return bytes / kGranule;
}

RC_GTEST_PROP(SpanAllocator, BehavesLikeTheModel, (std::vector<std::uint8_t> steps)) {
  SpanAllocator allocator(kBase, kGranules * kGranule, kGranule);
  Model model;
  for (const std::uint8_t step : steps) {
    if (step % 2 == 0 || model.spans.empty()) {
      const std::size_t granules = 1 + step % 13;
      const std::uintptr_t start = allocator.allocate(granules * kGranule - step % kGranule);
      RC_ASSERT(start == model.best_fit(granules));
      if (start == 0) continue;
      model.set(start, granules, true);
      model.spans[start] = granules;
    } else {
      auto span = model.spans.begin();
      std::advance(span, step % model.spans.size());
      const NewRefused none;
      allocator.release(span->first);
      model.set(span->first, span->second, false);
      model.spans.erase(span);
    }
    std::size_t expected = 0;
    for (const bool used : model.used) expected += used ? 0 : 1;
    RC_ASSERT(free_granules(allocator, kBase + kGranules * kGranule) == expected);
  }
}

TEST(SpanAllocator, WithoutMemoryForTheBooksNothingIsHandedOut) {
  if constexpr (!kNewCanBeRefused) GTEST_SKIP() << "operator new cannot be refused here";
  SpanAllocator allocator(kBase, kGranules * kGranule, kGranule);
  {
    const NewRefused none;
    EXPECT_EQ(allocator.allocate(kGranule), 0U);
    EXPECT_EQ(allocator.allocate(kGranules * kGranule), kBase) << "the whole span needs no entry";
    allocator.release(kBase);
  }
  EXPECT_EQ(free_granules(allocator, kBase + kGranules * kGranule), kGranules);
  EXPECT_EQ(allocator.allocate(kGranule), kBase);
}

TEST(SpanAllocator, FreeSpansAreCutOffAtTheEnd) {
  SpanAllocator allocator(kBase, kGranules * kGranule, kGranule);
  const std::uintptr_t first = allocator.allocate(3 * kGranule);
  allocator.allocate(2 * kGranule);
  allocator.release(first);
  EXPECT_EQ(free_granules(allocator, kBase), 0U);
  EXPECT_EQ(free_granules(allocator, kBase + kGranule), 1U);
  EXPECT_EQ(free_granules(allocator, kBase + 7 * kGranule), 5U);
}

/// Bytes that are free and dirty, and those that a thief has taken of them.
struct DirtyModel {
  std::vector<bool> dirty = std::vector<bool>(kGranules, false);
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(std::count(dirty.begin(), dirty.end(), true)) * kGranule;
  }
  void set(std::uintptr_t start, std::size_t bytes, bool value) {
    for (std::size_t i = 0; i < bytes / kGranule; ++i)
      dirty[(start - kBase) / kGranule + i] = value;
  }
};

RC_GTEST_PROP(SpanAllocator, KnowsWhatIsDirty, (std::vector<std::uint8_t> steps)) {
  SpanAllocator allocator(kBase, kGranules * kGranule, kGranule);
  std::map<std::uintptr_t, std::size_t> spans;
  DirtyModel model;
  std::uint64_t now = 1;
  for (const std::uint8_t step : steps) {
    ++now;
    const std::size_t bytes = (1 + step % 13) * kGranule;
    if (step % 4 == 0) {
      const auto taken = allocator.take_dirty(now, bytes);
      RC_ASSERT((taken.start == 0) == (model.bytes() == 0));
      if (taken.start == 0) continue;
      RC_ASSERT(taken.bytes <= bytes);
      model.set(taken.start, taken.bytes, false);
      allocator.release(taken.start);
    } else if (step % 2 == 0 || spans.empty()) {
      const std::uintptr_t start = allocator.allocate(bytes);
      if (start == 0) continue;
      model.set(start, bytes, false);
      spans[start] = bytes;
    } else {
      auto span = spans.begin();
      std::advance(span, step % spans.size());
      const bool clean = step % 3 == 0;
      allocator.release(span->first, clean ? SpanAllocator::kClean : now);
      model.set(span->first, span->second, !clean);
      spans.erase(span);
    }
    RC_ASSERT(allocator.dirty_bytes() == model.bytes());
  }
  for (const auto& [start, bytes] : spans) allocator.release(start);
  while (allocator.take_dirty(now, kGranule).start != 0) {
  }
  RC_ASSERT(allocator.dirty_bytes() == 0);
}

TEST(SpanAllocator, TheLargerOfTwoNeighboursSaysHowOldTheyAre) {
  SpanAllocator allocator(kBase, kGranules * kGranule, kGranule);
  const std::uintptr_t large = allocator.allocate(8 * kGranule);
  const std::uintptr_t small = allocator.allocate(kGranule);
  const std::uintptr_t fence = allocator.allocate(kGranule);
  allocator.release(large, 100);
  for (std::uint64_t now = 200; now < 300; ++now) {
    allocator.release(small, now);
    EXPECT_EQ(allocator.take_dirty(99, SIZE_MAX).start, 0U);
    if (now == 299) break;
    const auto taken = allocator.take_dirty(100, SIZE_MAX);
    ASSERT_EQ(taken.start, large);
    ASSERT_EQ(taken.bytes, 9 * kGranule);
    allocator.release(taken.start);
    ASSERT_EQ(allocator.allocate(8 * kGranule), large);
    ASSERT_EQ(allocator.allocate(kGranule), small);
    allocator.release(large, 100);
  }
  EXPECT_EQ(allocator.dirty_bytes(), 9 * kGranule);
  allocator.release(fence);
}

}  // namespace
}  // namespace fallow::test
