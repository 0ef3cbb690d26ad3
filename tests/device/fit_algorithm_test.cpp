// Every strategy against the books of the region: what is handed out does not overlap, what is
// given back merges, and the choice is the one that the strategy promises.
#include "device/fit_algorithm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "device/region.h"
#include "tests/device/test_support.h"

namespace fallow::device::detail {
namespace {

constexpr std::uint64_t kGranule = 128;
constexpr unsigned kShift = 7;

class FitTest : public testing::TestWithParam<FitStrategy> {
 protected:
  std::unique_ptr<Region> make_region(std::uint64_t granules) {
    EXPECT_TRUE(pool_.reserve(1));
    return std::make_unique<Region>(
        Region::Place{0, MemoryType::kTensor, 0, granules * kGranule, {}},
        make_fit(GetParam(), kShift), pool_.take());
  }
  Block* allocate(Region& region, std::uint64_t granules, std::uint64_t alignment = kGranule) {
    EXPECT_TRUE(pool_.reserve(2));
    Block* const found = region.find(granules * kGranule, alignment, kGranule, true);
    return found == nullptr ? nullptr : region.take(found, granules * kGranule, alignment, pool_);
  }

  BlockPool pool_;
};

TEST_P(FitTest, FillsARegionToTheLastGranule) {
  const auto region = make_region(100);
  std::vector<Block*> blocks;
  while (Block* const block = allocate(*region, 1)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), 100U);
  EXPECT_EQ(region->free_bytes(), 0U);
  EXPECT_EQ(region->largest_free(), 0U);
  for (Block* const block : blocks) region->give_back(block, pool_);
  EXPECT_TRUE(region->consistent());
  EXPECT_EQ(region->largest_free(), 100 * kGranule);
}

TEST_P(FitTest, ServesTheWholeRegionAtOnce) {
  const auto region = make_region(777);
  EXPECT_EQ(allocate(*region, 778), nullptr);
  ASSERT_NE(allocate(*region, 777), nullptr);
  EXPECT_EQ(allocate(*region, 1), nullptr);
}

TEST_P(FitTest, KeepsEveryInvariantUnderRandomUse) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Random random(seed);
    const auto region = make_region(1000 + random.below(3000));
    std::vector<Block*> live;
    for (std::size_t i = 0; i < test::scaled(4000); ++i) {
      if (random.below(2) == 0 || live.empty()) {
        const std::uint64_t alignment = kGranule << random.below(4);
        if (Block* const block = allocate(*region, 1 + random.below(60), alignment)) {
          ASSERT_EQ(block->offset % alignment, 0U);
          live.push_back(block);
        }
      } else {
        std::swap(live[random.below(live.size())], live.back());
        region->give_back(live.back(), pool_);
        live.pop_back();
      }
      if (i % 50 == 0) {
        ASSERT_TRUE(region->consistent());
      }
    }
    for (Block* const block : live) region->give_back(block, pool_);
    ASSERT_TRUE(region->consistent());
    EXPECT_TRUE(region->empty());
    EXPECT_EQ(region->largest_free(), region->place().bytes);
  }
}

constexpr const char* kNames[] = {"Segregated", "First", "Best"};

INSTANTIATE_TEST_SUITE_P(Strategies, FitTest,
                         testing::Values(FitStrategy::kSegregated, FitStrategy::kFirst,
                                         FitStrategy::kBest),
                         [](const auto& each) {
                           return std::string(kNames[static_cast<std::size_t>(each.param)]);
                         });

/// Free blocks of these granules, by address, with a used granule between any two.
class Holes {
 public:
  Holes(FitStrategy strategy, const std::vector<std::uint64_t>& holes) {
    std::uint64_t granules = 0;
    for (const std::uint64_t hole : holes) granules += hole + 1;
    EXPECT_TRUE(pool_.reserve(2 * holes.size() + 3));
    region_ =
        std::make_unique<Region>(Region::Place{0, MemoryType::kTensor, 0, granules * kGranule, {}},
                                 make_fit(strategy, kShift), pool_.take());
    std::vector<Block*> blocks;
    for (const std::uint64_t hole : holes) {
      blocks.push_back(take(hole));
      take(1);
    }
    for (Block* const block : blocks) region_->give_back(block, pool_);
  }
  Block* take(std::uint64_t granules) {
    Block* const found = region_->find(granules * kGranule, kGranule, kGranule, true);
    return found == nullptr ? nullptr : region_->take(found, granules * kGranule, kGranule, pool_);
  }
  /// Granules of the hole that serves a request.
  std::uint64_t hole_for(std::uint64_t granules) {
    const Block* const found = region_->find(granules * kGranule, kGranule, kGranule, true);
    return found == nullptr ? 0 : found->bytes / kGranule;
  }

 private:
  BlockPool pool_;
  std::unique_ptr<Region> region_;
};

TEST(FirstFit, TakesTheLowestAddress) {
  Holes holes(FitStrategy::kFirst, {5, 90, 20, 10, 200});
  EXPECT_EQ(holes.hole_for(3), 5U);
  EXPECT_EQ(holes.hole_for(6), 90U);
  EXPECT_EQ(holes.hole_for(91), 200U);
  EXPECT_EQ(holes.hole_for(201), 0U);
}

TEST(BestFit, TakesTheSmallestThatFits) {
  Holes holes(FitStrategy::kBest, {50, 1000, 1010, 990, 47, 90, 2000});
  EXPECT_EQ(holes.hole_for(46), 47U);
  EXPECT_EQ(holes.hole_for(48), 50U);
  EXPECT_EQ(holes.hole_for(985), 990U);
  EXPECT_EQ(holes.hole_for(991), 1000U);
  EXPECT_EQ(holes.hole_for(1001), 1010U);
  EXPECT_EQ(holes.hole_for(1011), 2000U);
}

TEST(SegregatedFit, FindsABlockOfTheRequestsOwnListWhenNoLargerIsLeft) {
  // 1000 and 1010 share a list, whose blocks need not fit a request of 1005.
  Holes holes(FitStrategy::kSegregated, {1010, 1000, 40});
  EXPECT_EQ(holes.hole_for(1005), 1010U);
  EXPECT_EQ(holes.hole_for(1011), 0U);
  EXPECT_EQ(holes.hole_for(33), 40U);
}

TEST(SegregatedFit, ServesEverySizeFromAHoleOfThatSize) {
  for (std::uint64_t size = 1; size < 4000; size = size * 9 / 8 + 1) {
    Holes holes(FitStrategy::kSegregated, {size});
    EXPECT_EQ(holes.hole_for(size), size);
    EXPECT_EQ(holes.hole_for(size + 1), 0U);
  }
}

TEST(BlockPool, FindsEveryBlockByItsNumber) {
  BlockPool pool;
  std::vector<Block*> blocks;
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(pool.reserve(1));
    blocks.push_back(pool.take());
  }
  for (const Block* const block : blocks) ASSERT_EQ(pool.find(block->slot), block);
  EXPECT_EQ(pool.find(UINT32_MAX), nullptr);
}

}  // namespace
}  // namespace fallow::device::detail
