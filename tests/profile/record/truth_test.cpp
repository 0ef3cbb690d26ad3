// Estimates from recordings against what was really allocated, for several seeds, intervals and
// sizes, some of which any fixed stride would get wrong.
#include <cmath>
#include <map>

#include "profile/malloc/malloc_sampler.h"
#include "tests/profile/record/record_support.h"

namespace fallow::test {
namespace {

using profile::Recorder;

struct Truth {
  double bytes = 0;
  double variance = 0;  // of the estimate
};

void add(Truth& truth, std::size_t bytes, std::size_t interval) {
  const auto size = static_cast<double>(bytes);
  const double chance = -std::expm1(-size / static_cast<double>(interval));
  truth.bytes += size;
  truth.variance += size * size * (1 - chance) / chance;
}

class RecorderTruth : public RecordTest {
 protected:
  /// Of the sizes' estimates, how many lie within 1.96 standard deviations.
  void compare(const std::vector<std::size_t>& pattern, std::size_t interval, std::uint64_t seed) {
    profile::RecorderOptions given = options(interval);
    given.overwrite = true;
    Recorder recorder(given);
    recorder.start();
    SampledAllocator allocator(recorder, interval, seed);
    std::map<std::uint64_t, Truth> truths;
    std::uint64_t total = 0;
    const std::uint64_t wanted = std::max<std::uint64_t>(64 * interval, 1 << 20);
    while (total < wanted && allocator.objects() < 400'000) {
      for (const std::size_t bytes : pattern) {
        allocator.allocate(bytes);
        add(truths[bytes], bytes, interval);
        total += bytes;
      }
    }
    recorder.stop();
    const profile::Recording recording = read_sound(path());
    std::map<std::uint64_t, double> estimates;
    for (const profile::Sample& sample : recording.samples) {
      const auto size = static_cast<double>(sample.bytes);
      estimates[sample.bytes] += size / -std::expm1(-size / static_cast<double>(interval));
    }
    for (const auto& [bytes, truth] : truths) {
      // A size with a few expected samples has no normal distribution.
      if (truth.bytes < 25 * static_cast<double>(interval) && truth.variance > 0) continue;
      const double deviation = std::sqrt(truth.variance);
      const double error = std::abs(estimates[bytes] - truth.bytes);
      ++cases_;
      within_ += error <= 1.96 * deviation + 1e-6 * truth.bytes ? 1 : 0;
      EXPECT_LE(error, 5 * deviation + 1e-6 * truth.bytes)
          << bytes << " bytes each " << interval << ", seed " << seed;
    }
  }

  int cases_ = 0;
  int within_ = 0;
};

TEST_F(RecorderTruth, EstimatesLieInTheirIntervals) {
  const std::vector<std::vector<std::size_t>> patterns = {
      {48, 64, 16, 64},
      {4032, 64},
      {32},
      {32, 32, 32, 32, 32, 32, 32, 1 << 20},
      {16, 160, 1600, 16000, 160000, 1600000},
  };
  for (const auto& pattern : patterns) {
    for (const std::size_t interval : {64, 4096, 65536, 524288}) {
      for (std::uint64_t seed = 1; seed <= 6; ++seed) compare(pattern, interval, seed);
    }
  }
  EXPECT_GT(cases_, 150);
  EXPECT_GE(within_, cases_ * 93 / 100) << cases_;
}

TEST(MallocSampler, ChoosesWithTheProbabilityOfTheSize) {
  struct Case {
    std::size_t bytes;
    std::size_t interval;
    int rounds;
  };
  for (const Case& each :
       {Case{100, 1000, 400'000}, Case{1100, 1000, 200'000}, Case{64, 1 << 20, 4'000'000},
        Case{1 << 20, 8 << 20, 100'000}, Case{3'000'000, 1 << 20, 50'000}, Case{1, 2, 200'000}}) {
    profile::MallocSampler sampler;
    int chosen = 0;
    for (int i = 0; i < each.rounds; ++i) {
      if (sampler.passes(each.bytes)) continue;
      if (!sampler.is_chosen(each.interval, 99)) continue;
      ++chosen;
      ASSERT_EQ(sampler.interval_bytes(), each.interval);
    }
    const double chance =
        -std::expm1(-static_cast<double>(each.bytes) / static_cast<double>(each.interval));
    const double expected = chance * each.rounds;
    EXPECT_NEAR(chosen, expected, 5 * std::sqrt(expected * (1 - chance)) + 1) << each.bytes;
  }
}

TEST(MallocSampler, SeesAnIntervalWithinItsLongestWait) {
  profile::MallocSampler sampler;
  constexpr std::size_t kBytes = 1024;
  const auto chosen = [&](std::size_t interval) {
    int count = 0;
    for (int i = 0; i < 1024; ++i) {
      count += !sampler.passes(kBytes) && sampler.is_chosen(interval, 1) ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(chosen(0), 0);
  EXPECT_GT(chosen(64), 700);
  EXPECT_LE(chosen(0), 1) << "a byte that was chosen before";
}

}  // namespace
}  // namespace fallow::test
