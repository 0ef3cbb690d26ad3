// Random operations against the model, under all combinations of diagnostics that pay off.
#include <cstdint>
#include <ostream>
#include <string>

#include "tests/heap/model/model.h"

namespace fallow::test {
namespace {

struct Variant {
  const char* name;
  std::size_t steps;
  std::size_t nursery_bytes;
  std::size_t zeal = 0;
  std::size_t rotating_nurseries = 0;
  bool verify = false;
  bool poison = false;
  std::size_t hard_limit_bytes = 0;
  std::size_t growth_floor_bytes = 1 * kMiB;
  double growth_factor = 1.1;
  std::size_t marker_threads = 0;

  [[nodiscard]] ModelSettings settings(std::size_t nursery) const {
    ModelSettings settings;
    settings.options = with_nursery(nursery);
    settings.options.zeal = zeal;
    settings.options.rotating_nurseries = rotating_nurseries;
    settings.options.verify = verify;
    settings.options.poison = poison;
    settings.options.hard_limit_bytes = hard_limit_bytes;
    settings.options.growth_floor_bytes = growth_floor_bytes;
    settings.options.growth_factor = growth_factor;
    settings.options.marker_threads = marker_threads;
    settings.steps = scaled(steps) * step_multiplier();
    return settings;
  }
  friend std::ostream& operator<<(std::ostream& out, const Variant& variant) {
    return out << variant.name;
  }
};

constexpr Variant kVariants[] = {
    {.name = "Plain", .steps = 40'000, .nursery_bytes = 64 * kKiB},
    {.name = "OftenFull", .steps = 20'000, .nursery_bytes = 16 * kKiB, .poison = true},
    {.name = "Zeal", .steps = 5000, .nursery_bytes = 256 * kKiB, .zeal = 5, .poison = true},
    {.name = "ZealAlways", .steps = 2000, .nursery_bytes = 64 * kKiB, .zeal = 1},
    {.name = "Rotating", .steps = 10'000, .nursery_bytes = 32 * kKiB, .rotating_nurseries = 8},
    {.name = "ZealRotating",
     .steps = 3000,
     .nursery_bytes = 64 * kKiB,
     .zeal = 3,
     .rotating_nurseries = 7,
     .poison = true},
    {.name = "Verify", .steps = 3000, .nursery_bytes = 16 * kKiB, .verify = true},
    {.name = "VerifyZealRotating",
     .steps = 1500,
     .nursery_bytes = 16 * kKiB,
     .zeal = 10,
     .rotating_nurseries = 3,
     .verify = true},
    {.name = "HardLimit",
     .steps = 15'000,
     .nursery_bytes = 64 * kKiB,
     .hard_limit_bytes = 20 * kMiB,
     .growth_floor_bytes = 64 * kMiB},
    {.name = "Marker", .steps = 20'000, .nursery_bytes = 16 * kKiB, .marker_threads = 1},
    {.name = "MarkerVerify",
     .steps = 3000,
     .nursery_bytes = 16 * kKiB,
     .verify = true,
     .marker_threads = 1},
};

class ModelRandom : public ::testing::TestWithParam<Variant> {};
class ModelRandomThreads : public ::testing::TestWithParam<Variant> {};

std::string name_of(const ::testing::TestParamInfo<Variant>& info) { return info.param.name; }

TEST_P(ModelRandom, OneMutator) {
  const std::uint64_t seed = seed_or(20240601);
  const ModelSettings settings = GetParam().settings(GetParam().nursery_bytes);
  const std::string fault = run_model(settings, Decisions(seed));
  ASSERT_EQ(fault, "") << "repeat with FALLOW_TEST_SEED=" << seed;
}

TEST_P(ModelRandomThreads, ThreeMutators) {
  const Watchdog watchdog(250);
  const std::uint64_t seed = seed_or(7001);
  ModelSettings settings = GetParam().settings(GetParam().nursery_bytes);
  settings.steps = settings.steps / 3 + 1;
  const std::string fault = run_model_threads(settings, seed, 3);
  ASSERT_EQ(fault, "") << "repeat with FALLOW_TEST_SEED=" << seed;
}

INSTANTIATE_TEST_SUITE_P(, ModelRandom, ::testing::ValuesIn(kVariants), name_of);
INSTANTIATE_TEST_SUITE_P(, ModelRandomThreads, ::testing::ValuesIn(kVariants), name_of);

TEST(ModelRandomSweep, EveryNurserySizeWithSeveralSeeds) {
  constexpr Variant kSweep{.name = "sweep", .steps = 2500, .nursery_bytes = 0};
  for_each_nursery_size([&](std::size_t nursery) {
    for (std::uint64_t i = 1; i <= 4; ++i) {
      const std::uint64_t seed = seed_or(nursery * 10 + i);
      const std::string fault = run_model(kSweep.settings(nursery), Decisions(seed));
      ASSERT_EQ(fault, "") << "repeat with FALLOW_TEST_SEED=" << seed;
    }
  });
}

TEST(ModelRandomSweep, TheSameSeedDoesTheSame) {
  const auto collections = [](std::uint64_t seed) {
    ModelSettings settings;
    settings.options = with_nursery(32 * kKiB);
    settings.options.zeal = 20;
    // How far a step comes must not be a matter of time.
    settings.options.step_budget_microseconds = 10'000'000;
    settings.steps = scaled(2000);
    settings.helper_threads = false;
    ModelWorld world(settings);
    ModelWorker(world, Decisions(seed), 1, true).run();
    EXPECT_EQ(world.fault(), "");
    for (const auto& root : world.roots) root->clear();
    const HeapStatistics statistics = world.heap.statistics();
    return std::to_string(statistics.minor_collections) + " minor, " +
           std::to_string(statistics.full_collections) + " full, promoted " +
           std::to_string(statistics.promoted) + ", allocated " +
           std::to_string(statistics.allocated);
  };
  EXPECT_EQ(collections(1), collections(1));
  EXPECT_NE(collections(1), collections(2));
}

}  // namespace
}  // namespace fallow::test
