// Programs that know nothing of fallow, with its malloc in front of theirs.
#include <signal.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "tests/profile/record/record_support.h"

namespace fallow::test {
namespace {

class MallocProfileProgram : public RecordTest {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer has a malloc of its own";
  }
  /// Replaces the calling process.
  [[noreturn]] void become_victim(const char* mode, const std::string& options) const {
    setenv("LD_PRELOAD", FALLOW_MALLOC_LIBRARY_PATH, 1);
    setenv("FALLOW_PROFILE", (path() + options).c_str(), 1);
    execl(FALLOW_VICTIM_PATH, FALLOW_VICTIM_PATH, mode, static_cast<char*>(nullptr));
    _exit(99);
  }
  [[nodiscard]] int run(const char* mode, const std::string& options) const {
    return in_child([&] { become_victim(mode, options); });
  }
};

/// Estimated bytes of samples of one size.
double estimate(const profile::Recording& recording, std::uint64_t bytes) {
  double sum = 0;
  for (const profile::Sample& sample : recording.samples) {
    if (sample.bytes != bytes) continue;
    const auto size = static_cast<double>(bytes);
    const auto interval = static_cast<double>(recording.interval_of(sample));
    sum += size / -std::expm1(-size / interval);
  }
  return sum;
}

TEST_F(MallocProfileProgram, IsRecordedWithSizesPlacesAndFrees) {
  ASSERT_EQ(run("plain", ",every=4K,seed=7"), 0);
  const profile::Recording recording = read_sound(path());
  ASSERT_TRUE(recording.end.has_value());
  EXPECT_EQ(*recording.end, profile::EndReason::kExit);
  // 20 MB in 4882 samples on average, 4 MB in 632: far more than five standard deviations.
  EXPECT_NEAR(estimate(recording, 200), 20e6, 2e6);
  EXPECT_NEAR(estimate(recording, 4096), 4096e3, 0.8e6);
  std::size_t kept = 0;
  std::size_t freed = 0;
  for (const profile::FateRecord& fate : recording.fates) {
    EXPECT_EQ(fate.kind, profile::FateRecord::Kind::kFreed);
    ++freed;
  }
  for (const profile::Sample& sample : recording.samples) {
    const auto stack = stack_of(recording, sample.node);
    ASSERT_FALSE(stack.empty());
    if (sample.bytes != 200 && sample.bytes != 4096) continue;
    kept += sample.bytes == 4096 ? 1 : 0;
    // The innermost function is the program's, and none of the recorder's own.
    const auto& module = recording.definitions.modules[stack[0].module];
    EXPECT_NE(recording.text(module.path).find("victim"), std::string::npos);
    ASSERT_GE(stack.size(), 2U);
    EXPECT_EQ(stack[1].module, stack[0].module) << "main";
  }
  EXPECT_GT(kept, 500U);
  EXPECT_GT(freed, 4000U);
}

TEST_F(MallocProfileProgram, SurvivesForksAndItsFileIsTheParents) {
  for (const char* const mode : {"fork", "vfork"}) {
    ASSERT_EQ(run(mode, ",every=4K,force"), 0) << mode;
    const profile::Recording recording = read_sound(path());
    EXPECT_EQ(recording.definitions.threads.size(), 1U);
    EXPECT_NEAR(estimate(recording, 200), mode[0] == 'f' ? 40e6 : 20e6, 4e6) << mode;
  }
}

TEST_F(MallocProfileProgram, ChildrenHaveFilesOfTheirOwnOnRequest) {
  ASSERT_EQ(run("fork", ",every=4K,follow-fork"), 0);
  EXPECT_NEAR(estimate(read_sound(path()), 200), 40e6, 4e6);
  std::size_t others = 0;
  const auto folder = std::filesystem::path(path()).parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path() == path()) continue;
    ++others;
    EXPECT_NEAR(estimate(read_sound(entry.path()), 200), 20e6, 2e6);
  }
  EXPECT_EQ(others, 1U);
}

TEST_F(MallocProfileProgram, ThreadsFreeEachOthersBlocks) {
  ASSERT_EQ(run("threads", ",every=1K"), 0);
  const profile::Recording recording = read_sound(path());
  EXPECT_NEAR(estimate(recording, 64), 64.0 * 160'000, 1e6);
  EXPECT_NEAR(estimate(recording, 128), 128.0 * 160'000, 2e6);
  EXPECT_EQ(recording.definitions.threads.size(), 9U);
  std::size_t small = 0;
  for (const profile::Sample& sample : recording.samples) small += sample.bytes <= 200 ? 1 : 0;
  // Of the small blocks all but the last few are freed.
  EXPECT_GE(recording.fates.size() + 100, small);
}

TEST_F(MallocProfileProgram, AFileThatCannotBeUsedIsToldAndTheProgramRuns) {
  std::ofstream(path()) << "precious";
  EXPECT_EQ(run("plain", ""), 0);
  EXPECT_EQ(std::filesystem::file_size(path()), 8U);
  EXPECT_EQ(run("plain", ",nonsense=1,force"), 0);
  EXPECT_EQ(std::filesystem::file_size(path()), 8U);
}

TEST_F(MallocProfileProgram, KilledAtAnyMomentLeavesASoundFile) {
  constexpr int kRounds = 20;
  platform::SplitMix64 random(20261201);
  std::size_t samples = 0;
  for (int round = 0; round < kRounds; ++round) {
    const pid_t child = fork();
    if (child == 0) become_victim("forever", ",every=1K,flush=1ms,force");
    std::this_thread::sleep_for(std::chrono::microseconds(20'000 + random.next() % 20'000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (!std::filesystem::exists(path()) || std::filesystem::file_size(path()) == 0) continue;
    const profile::Recording recording = profile::read_recording_file(path());
    samples += recording.samples.size();
    // A kill may cut the chunk that is being written, and nothing before it.
    if (recording.damage) {
      EXPECT_GE(recording.file_bytes, recording.damage->offset);
    }
  }
  EXPECT_GT(samples, 0U);
}

}  // namespace
}  // namespace fallow::test
