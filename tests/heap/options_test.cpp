// Options: ranges, environment variables, texts of refusals, the documentation table.
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fallow/errors.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

constexpr const char* kVariables[] = {
    "FALLOW_NURSERY",      "FALLOW_HARD_LIMIT",  "FALLOW_GROWTH_FACTOR", "FALLOW_GROWTH_CAP",
    "FALLOW_GROWTH_FLOOR", "FALLOW_SLOT_STACK",  "FALLOW_STOP_WARNING",  "FALLOW_HUGE_PAGES",
    "FALLOW_ZEAL",         "FALLOW_ZEAL_SEED",   "FALLOW_ROTATE",        "FALLOW_POISON",
    "FALLOW_VERIFY",       "FALLOW_STEP_BUDGET", "FALLOW_PAUSE_TARGET",  "FALLOW_SOFT_LIMIT",
    "FALLOW_LIMIT_SHARE",  "FALLOW_RECLAIM_AGE", "FALLOW_RECLAIMER",     "FALLOW_MARKER_THREADS",
};

class Options : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : kVariables) unsetenv(name);
  }
  void TearDown() override { SetUp(); }

  static HeapOptions with(const char* name, const char* value) {
    setenv(name, value, 1);
    const HeapOptions options = HeapOptions::from_environment();
    unsetenv(name);
    return options;
  }
  static std::string refusal(const char* name, const char* value) {
    setenv(name, value, 1);
    std::string text;
    try {
      (void)HeapOptions::from_environment();
    } catch (const OptionError& error) {
      text = error.what();
    }
    unsetenv(name);
    return text;
  }
  static std::string refusal(const HeapOptions& options) {
    try {
      options.validate();
    } catch (const OptionError& error) {
      return error.what();
    }
    return {};
  }
};

TEST_F(Options, TheHeapFillsInWhatItChose) {
  const TestHeap test;
  const HeapOptions& options = test.heap.options();
  EXPECT_GE(options.nursery_bytes, 512 * kKiB);
  EXPECT_LE(options.nursery_bytes, 64 * kMiB);
  EXPECT_GE(options.growth_floor_bytes, options.nursery_bytes);
  EXPECT_EQ(options.growth_factor, HeapOptions().growth_factor);
  EXPECT_EQ(options.hard_limit_bytes, 0U);
  EXPECT_EQ(test.heap.statistics().nursery, options.nursery_bytes);
}

TEST_F(Options, TheHeapKeepsWhatWasGiven) {
  HeapOptions given;
  given.nursery_bytes = 128 * kKiB;
  given.hard_limit_bytes = 64 * kMiB;
  given.growth_factor = 3;
  given.growth_cap_bytes = 8 * kMiB;
  given.growth_floor_bytes = 2 * kMiB;
  given.slot_stack_bytes = 1 * kMiB;
  given.stop_warning_microseconds = 5000;
  given.huge_pages = false;
  given.soft_limit_bytes = 32 * kMiB;
  given.limit_cpu_share = 0.3;
  given.pause_target_microseconds = 700;
  given.marker_threads = 1;
  given.reclaim_age_microseconds = 5;
  given.reclaimer_thread = false;
  given.zeal = 100;
  given.zeal_seed = 9;
  given.rotating_nurseries = 2;
  given.poison = true;
  given.verify = true;
  const Heap heap(given);
  const HeapOptions& kept = heap.options();
  EXPECT_EQ(kept.nursery_bytes, given.nursery_bytes);
  EXPECT_EQ(kept.hard_limit_bytes, given.hard_limit_bytes);
  EXPECT_EQ(kept.growth_factor, given.growth_factor);
  EXPECT_EQ(kept.growth_cap_bytes, given.growth_cap_bytes);
  EXPECT_EQ(kept.growth_floor_bytes, given.growth_floor_bytes);
  EXPECT_EQ(kept.slot_stack_bytes, given.slot_stack_bytes);
  EXPECT_EQ(kept.stop_warning_microseconds, given.stop_warning_microseconds);
  EXPECT_EQ(kept.huge_pages, given.huge_pages);
  EXPECT_EQ(kept.soft_limit_bytes, given.soft_limit_bytes);
  EXPECT_EQ(kept.limit_cpu_share, given.limit_cpu_share);
  EXPECT_EQ(kept.pause_target_microseconds, given.pause_target_microseconds);
  EXPECT_EQ(kept.marker_threads, given.marker_threads);
  EXPECT_EQ(kept.reclaim_age_microseconds, given.reclaim_age_microseconds);
  EXPECT_EQ(kept.reclaimer_thread, given.reclaimer_thread);
  EXPECT_EQ(kept.zeal, given.zeal);
  EXPECT_EQ(kept.zeal_seed, given.zeal_seed);
  EXPECT_EQ(kept.rotating_nurseries, given.rotating_nurseries);
  EXPECT_EQ(kept.poison, given.poison);
  EXPECT_EQ(kept.verify, given.verify);
}

TEST_F(Options, OddNurserySizesAreRoundedAndReported) {
  for_each_nursery_size([](std::size_t bytes) {
    const Heap heap(with_nursery(bytes));
    EXPECT_LE(heap.options().nursery_bytes, bytes);
    EXPECT_GT(heap.options().nursery_bytes, bytes / 2);
    EXPECT_EQ(heap.statistics().nursery, heap.options().nursery_bytes);
  });
}

TEST_F(Options, EveryVariableIsRead) {
  EXPECT_EQ(with("FALLOW_NURSERY", "256K").nursery_bytes, 256 * kKiB);
  EXPECT_EQ(with("FALLOW_NURSERY", "1.5MiB").nursery_bytes, 1536 * kKiB);
  EXPECT_EQ(with("FALLOW_HARD_LIMIT", "2G").hard_limit_bytes, 2048 * kMiB);
  EXPECT_EQ(with("FALLOW_GROWTH_FACTOR", "1.5").growth_factor, 1.5);
  EXPECT_EQ(with("FALLOW_GROWTH_CAP", "3M").growth_cap_bytes, 3 * kMiB);
  EXPECT_EQ(with("FALLOW_GROWTH_FLOOR", "4M").growth_floor_bytes, 4 * kMiB);
  EXPECT_EQ(with("FALLOW_SLOT_STACK", "64k").slot_stack_bytes, 64 * kKiB);
  EXPECT_EQ(with("FALLOW_STOP_WARNING", "2ms").stop_warning_microseconds, 2000U);
  EXPECT_EQ(with("FALLOW_STEP_BUDGET", "2ms").step_budget_microseconds, 2000U);
  EXPECT_EQ(with("FALLOW_STEP_BUDGET", "0").step_budget_microseconds, 0U);
  EXPECT_EQ(with("FALLOW_SOFT_LIMIT", "1G").soft_limit_bytes, 1024 * kMiB);
  EXPECT_EQ(with("FALLOW_LIMIT_SHARE", "0.25").limit_cpu_share, 0.25);
  EXPECT_EQ(with("FALLOW_PAUSE_TARGET", "1ms").pause_target_microseconds, 1000U);
  EXPECT_EQ(with("FALLOW_MARKER_THREADS", "1").marker_threads, 1U);
  EXPECT_EQ(with("FALLOW_RECLAIM_AGE", "3s").reclaim_age_microseconds, 3'000'000U);
  EXPECT_FALSE(with("FALLOW_RECLAIMER", "0").reclaimer_thread);
  EXPECT_FALSE(with("FALLOW_HUGE_PAGES", "off").huge_pages);
  EXPECT_EQ(with("FALLOW_ZEAL", "17").zeal, 17U);
  EXPECT_EQ(with("FALLOW_ZEAL_SEED", "18446744073709551615").zeal_seed, UINT64_MAX);
  EXPECT_EQ(with("FALLOW_ROTATE", "8").rotating_nurseries, 8U);
  EXPECT_TRUE(with("FALLOW_POISON", "yes").poison);
  EXPECT_TRUE(with("FALLOW_VERIFY", "1").verify);
}

TEST_F(Options, WithoutVariablesTheDefaultsHold) {
  const HeapOptions options = HeapOptions::from_environment();
  EXPECT_EQ(options.nursery_bytes, HeapOptions().nursery_bytes);
  EXPECT_EQ(options.growth_factor, HeapOptions().growth_factor);
  EXPECT_EQ(options.zeal, 0U);
  EXPECT_FALSE(options.verify);
  EXPECT_EQ(with("FALLOW_NURSERY", "").nursery_bytes, 0U) << "an empty variable is no variable";
}

TEST_F(Options, NonsenseInTheEnvironmentIsRefusedByName) {
  const std::pair<const char*, const char*> nonsense[] = {
      {"FALLOW_NURSERY", "4 potatoes"}, {"FALLOW_NURSERY", "-1"},
      {"FALLOW_NURSERY", "1K"},         {"FALLOW_NURSERY", "2G"},
      {"FALLOW_NURSERY", "1e6"},        {"FALLOW_NURSERY", "99999999999999999999"},
      {"FALLOW_HARD_LIMIT", "1M"},      {"FALLOW_GROWTH_FACTOR", "1"},
      {"FALLOW_GROWTH_FACTOR", "nan"},  {"FALLOW_GROWTH_FACTOR", "11"},
      {"FALLOW_GROWTH_FACTOR", "x"},    {"FALLOW_GROWTH_CAP", "1K"},
      {"FALLOW_GROWTH_FLOOR", "1K"},    {"FALLOW_SLOT_STACK", "1"},
      {"FALLOW_STOP_WARNING", "soon"},  {"FALLOW_STOP_WARNING", "1us"},
      {"FALLOW_STEP_BUDGET", "soon"},   {"FALLOW_STEP_BUDGET", "-1"},
      {"FALLOW_HUGE_PAGES", "maybe"},   {"FALLOW_ZEAL", "1.5"},
      {"FALLOW_ZEAL", "often"},         {"FALLOW_ZEAL_SEED", "-5"},
      {"FALLOW_ROTATE", "1000"},        {"FALLOW_POISON", "2"},
      {"FALLOW_VERIFY", "?"},
  };
  for (const auto& [name, value] : nonsense) {
    const std::string text = refusal(name, value);
    EXPECT_NE(text.find(name), std::string::npos) << name << "=" << value << ": " << text;
    EXPECT_NE(text.find(value), std::string::npos) << name << "=" << value << ": " << text;
  }
  // The permitted range is in the text, with units.
  EXPECT_NE(refusal("FALLOW_NURSERY", "1K").find("4 KiB to 1 GiB"), std::string::npos)
      << refusal("FALLOW_NURSERY", "1K");
}

TEST_F(Options, MembersOutOfRangeAreRefusedByName) {
  const auto expect_refused = [](const char* name, const HeapOptions& options) {
    const std::string text = refusal(options);
    EXPECT_NE(text.find(name), std::string::npos) << name << ": " << text;
    EXPECT_THROW(Heap heap(options), OptionError) << name;
  };
  HeapOptions options;
  EXPECT_EQ(refusal(options), "");
  for (const std::size_t bytes : {std::size_t{1}, 4 * kKiB - 1, 1024 * kMiB + 1, SIZE_MAX}) {
    expect_refused("nursery_bytes", with_nursery(bytes));
  }
  for (const double factor : {0.0, -1.0, 1.0, 10.5, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()}) {
    options = {};
    options.growth_factor = factor;
    expect_refused("growth_factor", options);
  }
  options = {};
  options.hard_limit_bytes = 1 * kMiB;
  expect_refused("hard_limit_bytes", options);
  options = {};
  options.growth_cap_bytes = 1;
  expect_refused("growth_cap_bytes", options);
  options = {};
  options.growth_floor_bytes = 1;
  expect_refused("growth_floor_bytes", options);
  options = {};
  options.slot_stack_bytes = 0;
  expect_refused("slot_stack_bytes", options);
  options = {};
  options.stop_warning_microseconds = 0;
  expect_refused("stop_warning_microseconds", options);
  options = {};
  options.rotating_nurseries = 65;
  expect_refused("rotating_nurseries", options);
  options = {};
  options.zeal = SIZE_MAX;
  expect_refused("zeal", options);
}

TEST_F(Options, ANurseryThatTheHardLimitCannotHoldIsRefused) {
  HeapOptions options = with_nursery(64 * kMiB);
  options.hard_limit_bytes = 16 * kMiB;
  EXPECT_THROW(Heap heap(options), OptionError);
  options = with_nursery(1 * kMiB);
  options.rotating_nurseries = 64;
  options.hard_limit_bytes = 32 * kMiB;
  // The chosen nursery fits below any limit that is accepted.
  options.nursery_bytes = 0;
  options.rotating_nurseries = 0;
  options.hard_limit_bytes = 16 * kMiB;
  TestHeap test(options);
  const Local<Node> list(test.mutator, make_list(test.mutator, 1000));
  EXPECT_EQ(check_list(list), 1000U);
}

TEST_F(Options, TheDocumentationHasEveryVariable) {
  const std::string table = options_as_markdown();
  for (const char* const name : kVariables) {
    EXPECT_NE(table.find(std::string("`") + name + "`"), std::string::npos) << name;
  }
  // And no variable that this test does not know.
  std::size_t found = 0;
  for (std::size_t at = table.find("FALLOW_"); at != std::string::npos;
       at = table.find("FALLOW_", at + 1)) {
    ++found;
  }
  EXPECT_EQ(found, std::size(kVariables));
  for (const char* const member : {"nursery_bytes", "hard_limit_bytes", "zeal_seed", "verify"}) {
    EXPECT_NE(table.find(member), std::string::npos) << member;
  }
}

}  // namespace
}  // namespace fallow::test
