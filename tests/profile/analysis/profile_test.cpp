// From samples to what they mean: fates, weights, places, and whether the estimates are true.
#include "profile/analysis/profile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profile/analysis/sites.h"
#include "tests/profile/profile_of.h"
#include "tests/profile/simulated_program.h"

namespace fallow::profile {
namespace {

using test::profile_of;
using test::RecordingBuilder;

TEST(Profile, JoinsFatesInWhateverOrder) {
  RecordingBuilder builder;
  builder.epoch(1024);
  const auto node = builder.frame(0, "f");
  const auto type = builder.type("T");
  // What becomes of samples stands before them.
  builder.died(900, 2, {{1, 3}});
  builder.died(950, 0, {{2, 1}});
  builder.minor(500, 1,
                {{1, 1, type, SettledOutcome::kDied},
                 {1, 2, type, SettledOutcome::kSurvived},
                 {1, 3, type, SettledOutcome::kSurvived},
                 {1, 4, type, SettledOutcome::kStillYoung},
                 {1, 5, type, SettledOutcome::kUntracked},
                 {7, 1, type, SettledOutcome::kDied}});
  builder.flush();
  for (std::uint64_t i = 6; i-- > 1;) builder.sample(1, 100, {i, node, 64});
  builder.sample(2, 100, {1, node, 64, 1, 2});
  builder.end(1000, EndReason::kExit);
  const Profile profile = profile_of(builder);
  EXPECT_EQ(profile.unmatched_fates, 1U);
  std::map<std::pair<std::uint32_t, std::uint64_t>, Sample> samples;
  for (const Sample& sample : profile.recording.samples) {
    samples[{sample.stream, sample.sequence}] = sample;
  }
  EXPECT_EQ(samples.at({1, 1}).fate, Fate::kDiedYoung);
  EXPECT_EQ(samples.at({1, 1}).fate_ns, 500);
  EXPECT_EQ(samples.at({1, 2}).fate, Fate::kLive);
  EXPECT_TRUE(samples.at({1, 2}).tenured);
  EXPECT_EQ(samples.at({1, 2}).fate_ns, 1000);
  EXPECT_EQ(samples.at({1, 3}).fate, Fate::kDiedOld);
  EXPECT_EQ(samples.at({1, 3}).fate_ns, 900);
  EXPECT_EQ(samples.at({1, 3}).type, type);
  EXPECT_EQ(samples.at({1, 4}).fate, Fate::kLive);
  EXPECT_FALSE(samples.at({1, 4}).tenured);
  EXPECT_EQ(samples.at({1, 5}).fate, Fate::kUnknown);
  EXPECT_EQ(samples.at({2, 1}).fate, Fate::kFreed);
  const Breakdown total = total_of(profile);
  EXPECT_EQ(total.allocated.samples(), 6U);
  EXPECT_EQ(total.live.samples(), 2U);
  EXPECT_EQ(total.tenured.samples(), 2U);
  EXPECT_EQ(total.died_later.samples(), 2U);
}

TEST(Profile, WeightsKeepTheTotalToAByte) {
  RecordingBuilder builder;
  builder.epoch(1000);
  double exact = 0;
  for (std::uint64_t i = 1; i <= 999; ++i) {
    builder.sample(1, 1, {i, 0, i});
    exact += static_cast<double>(i) / inclusion_probability(i, 1000);
  }
  const Profile profile = profile_of(builder);
  EXPECT_NEAR(total_of(profile).allocated.bytes(), exact, 1);
}

TEST(Profile, GroupsAddUpToTheTotal) {
  RecordingBuilder builder;
  auto program = test::simulated_compiler();
  program.record({}, builder);
  const Profile profile = profile_of(builder);
  const double total = total_of(profile).allocated.bytes();
  for (const GroupBy by : {GroupBy::kFunction, GroupBy::kType, GroupBy::kThread}) {
    double sum = 0;
    for (const Group& group : groups_of(profile, by)) sum += group.bytes.allocated.bytes();
    EXPECT_EQ(sum, total);
  }
  double sum = 0;
  for (const Site& site : sites_of(profile)) sum += site.bytes.allocated.bytes();
  EXPECT_EQ(sum, total);
  EXPECT_EQ(sites_of(profile).size(), program.sites().size());
}

TEST(Profile, EmbeddedFunctionsHaveLinesAndUnknownCodeHasOffsets) {
  RecordingBuilder builder;
  builder.epoch(64);
  builder.module("/opt/lib/libx.so", "", 0x10000, 0x20000, 0x10000);
  const auto function = builder.function("loop", "a.lang", 3, {{0, 4}, {10, 7}, {20, 9}});
  const auto early = builder.node(0, NodeKind::kEmbedded, function, 5);
  const auto late = builder.node(early, NodeKind::kEmbedded, function, 19);
  const auto native = builder.node(late, NodeKind::kNative, 0x10123);
  const auto nowhere = builder.node(native, NodeKind::kNative, 0x99);
  const auto marker =
      builder.node(nowhere, NodeKind::kMarker, builder.string("(garbage collection)"));
  builder.sample(1, 1, {1, marker, 64});
  const Profile profile = profile_of(builder);
  std::vector<std::string> stack;
  std::vector<std::uint32_t> lines;
  for (const auto frame : profile.tree.stack_of(profile.vertex_of(profile.recording.samples[0]))) {
    stack.push_back(profile.tree.name(frame));
    lines.push_back(profile.tree.frames[frame].line);
  }
  EXPECT_EQ(stack, (std::vector<std::string>{"loop", "loop", "libx.so+0x123", "(no module)+0x99",
                                             "(garbage collection)"}));
  EXPECT_EQ(lines, (std::vector<std::uint32_t>{4, 7, 0, 0, 0}));
  const auto last = profile.tree.stack_of(profile.vertex_of(profile.recording.samples[0])).back();
  EXPECT_EQ(profile.tree.frames[last].category, FrameCategory::kCollector);
}

TEST(Profile, CodeMadeAtRunTimeHasNames) {
  RecordingBuilder builder;
  builder.epoch(64);
  const auto early = builder.node(0, NodeKind::kNative, 0x5010);
  builder.code("first", 0x5000, 0x100);
  const auto old = builder.node(early, NodeKind::kNative, 0x5020);
  builder.code("second", 0x5000, 0x40);
  const auto young = builder.node(old, NodeKind::kNative, 0x5030);
  builder.sample(1, 1, {1, young, 64});
  const Profile profile = profile_of(builder);
  std::vector<std::string> stack;
  for (const auto frame : profile.tree.stack_of(profile.vertex_of(profile.recording.samples[0]))) {
    stack.push_back(profile.tree.name(frame));
  }
  EXPECT_EQ(stack, (std::vector<std::string>{"second", "first", "second"}));
}

// Places, types and survival of programs whose truth is known, for many seeds and intervals.
TEST(Profile, EstimatesAreTrue) {
  int inside = 0;
  int cases = 0;
  const auto check = [&](const Tally& tally, double truth, std::uint64_t interval) {
    Interval range = tally.interval();
    if (tally.samples() == 0) range.high = unseen_bound(interval);
    const auto slack = static_cast<double>(tally.samples() + 1);
    inside += range.low - slack <= truth && truth <= range.high + slack ? 1 : 0;
    ++cases;
  };
  for (const std::uint64_t interval : {64U, 4096U, 65'536U, 1U << 20, 8U << 20}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      RecordingBuilder builder;
      auto program = test::simulated_compiler();
      program.record({.seed = seed, .interval_bytes = interval, .objects = 20'000}, builder);
      const Profile profile = profile_of(builder);
      for (std::size_t i = 0; i < program.sites().size(); ++i) {
        const test::SimulatedSite& truth = program.sites()[i];
        Breakdown found;
        for (const Site& site : sites_of(profile)) {
          const auto stack = profile.tree.stack_of(site.vertex);
          const bool same = profile.type_name(site.type) == truth.type &&
                            profile.tree.name(stack.back()) == truth.stack.back() &&
                            stack.size() == truth.stack.size();
          if (same) found = site.bytes;
        }
        check(found.allocated, program.truth()[i].allocated, interval);
        check(found.live, program.truth()[i].live, interval);
        check(found.died_young, program.truth()[i].died_young, interval);
      }
    }
  }
  EXPECT_GE(inside * 100, cases * 93) << inside << " of " << cases;
}

TEST(Profile, StacksMayBeVeryDeep) {
  RecordingBuilder builder;
  builder.epoch(64);
  std::uint32_t node = 0;
  const auto function = builder.function("recurse", "deep.lang", 1);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    node = builder.node(node, NodeKind::kEmbedded, function);
  }
  builder.sample(1, 1, {1, node, 64});
  const Profile profile = profile_of(builder);
  EXPECT_EQ(profile.tree.stack_of(profile.vertex_of(profile.recording.samples[0])).size(),
            100'000U);
}

}  // namespace
}  // namespace fallow::profile
