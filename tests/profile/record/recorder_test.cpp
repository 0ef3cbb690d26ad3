// The recorder from its public side: what is recorded is in the file.
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <set>
#include <thread>

#include "fallow/version.h"
#include "tests/profile/record/record_support.h"

namespace fallow::test {
namespace {

using profile::FileError;
using profile::Recorder;
using profile::RecorderOptions;
using profile::RecorderStatus;

class RecorderFile : public RecordTest {};

TEST_F(RecorderFile, HasEverySampleWithItsSizeAndInterval) {
  Recorder recorder(options(4096));
  recorder.start();
  SampledAllocator allocator(recorder, 4096);
  for (int i = 0; i < 100'000; ++i) allocator.allocate(16 + static_cast<std::size_t>(i % 7) * 8);
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  ASSERT_EQ(recording.samples.size(), allocator.samples());
  EXPECT_GT(allocator.samples(), 500U);
  std::uint64_t sequence = 0;
  std::int64_t time = 0;
  for (const profile::Sample& sample : recording.samples) {
    EXPECT_EQ(sample.sequence, ++sequence);
    EXPECT_GE(sample.bytes, 16U);
    EXPECT_LE(sample.bytes, 64U);
    EXPECT_EQ(recording.interval_of(sample), 4096U);
    EXPECT_EQ(sample.route, SampleRoute::kMalloc);
    EXPECT_GE(sample.time_ns, time);
    time = sample.time_ns;
  }
  ASSERT_TRUE(recording.end.has_value());
  EXPECT_EQ(*recording.end, profile::EndReason::kStopped);
  ASSERT_TRUE(recording.self.has_value());
  EXPECT_EQ(recording.self->samples, allocator.samples());
  EXPECT_EQ(recording.self->lost, 0U);
  EXPECT_GT(recording.self->bytes_held, 0U);
  EXPECT_LT(recording.self->bytes_held, 64 * kMiB);
}

TEST_F(RecorderFile, SaysWhatWasRecorded) {
  RecorderOptions given = options(777);
  given.seed = 42;
  Recorder recorder(given);
  recorder.start();
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  EXPECT_EQ(recording.meta_value("pid"), std::to_string(getpid()));
  EXPECT_EQ(recording.meta_value("interval_bytes"), "777");
  EXPECT_EQ(recording.meta_value("seed"), "42");
  EXPECT_EQ(recording.meta_value("native_stacks"), "fp");
  EXPECT_EQ(recording.meta_value("fallow"), kVersion);
  EXPECT_NE(recording.meta_value("command").find("fallow_test_profile"), std::string::npos);
  EXPECT_GT(recording.meta_number("start_realtime_ns"), 1'600'000'000'000'000'000U);
  EXPECT_GT(recording.meta_number("start_monotonic_ns"), 0U);
}

TEST_F(RecorderFile, KnowsTheModulesAndTheCodeOfStacks) {
  Recorder recorder(options(1));
  recorder.start();
  SampledAllocator allocator(recorder, 1);
  allocator.allocate(100);
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  ASSERT_EQ(recording.samples.size(), 1U);
  const auto stack = stack_of(recording, recording.samples[0].node);
  ASSERT_GE(stack.size(), 2U);
  const auto own = recording.text(recording.definitions.modules[stack[0].module].path);
  EXPECT_NE(own.find("fallow_test_profile"), std::string::npos) << own;
  EXPECT_FALSE(recording.text(recording.definitions.modules[stack[0].module].build_id).empty());
  EXPECT_NE(stack[1].module, 0U);
  EXPECT_NE(stack[0].value, stack[1].value);
}

TEST_F(RecorderFile, HasTheFateOfSamples) {
  Recorder recorder(options(1));
  recorder.start();
  SampledAllocator allocator(recorder, 1);
  std::vector<SampleId> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(allocator.allocate(32));
  using Outcome = SampleFate::Outcome;
  const std::string odd_name = "A<\xff\xfe</script>>";
  const SampleFate fates[] = {{ids[0], Outcome::kDied, "Node"},
                              {ids[1], Outcome::kSurvived, odd_name},
                              {ids[2], Outcome::kStillYoung, "Node"}};
  recorder.on_minor(7, fates);
  recorder.on_died(3, {&ids[1], 1});
  recorder.on_untracked({&ids[3], 1});
  recorder.on_freed(ids[4]);
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  ASSERT_EQ(recording.samples.size(), 6U);
  using Kind = profile::FateRecord::Kind;
  ASSERT_EQ(recording.fates.size(), 6U);
  const Kind expected[] = {Kind::kDiedYoung, Kind::kTenured,   Kind::kStillYoung,
                           Kind::kDiedOld,   Kind::kUntracked, Kind::kFreed};
  const std::uint64_t sequences[] = {1, 2, 3, 2, 4, 5};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(recording.fates[i].kind, expected[i]) << i;
    EXPECT_EQ(recording.fates[i].sequence, sequences[i]) << i;
    EXPECT_EQ(recording.fates[i].stream, recording.samples[0].stream) << i;
  }
  EXPECT_EQ(recording.text(recording.definitions.types[recording.fates[1].type]), odd_name);
  EXPECT_EQ(recording.fates[0].type, recording.fates[2].type);
}

TEST_F(RecorderFile, WritesWhatWasFlushedBeforeTheEnd) {
  Recorder recorder(options(1));
  recorder.start();
  SampledAllocator allocator(recorder, 1);
  allocator.allocate(100);
  recorder.flush();
  EXPECT_EQ(read_sound(path()).samples.size(), 1U);
  allocator.allocate(100);
  recorder.stop();
  EXPECT_EQ(read_sound(path()).samples.size(), 2U);
}

TEST_F(RecorderFile, TakesNothingWhileNothingRuns) {
  Recorder recorder(options(1));
  SampledAllocator allocator(recorder, 1);
  EXPECT_EQ(allocator.allocate(64), 0U);
  EXPECT_EQ(recorder.status().state, RecorderStatus::State::kIdle);
  EXPECT_EQ(recorder.interval_bytes(), 0U);
  recorder.start();
  EXPECT_EQ(recorder.interval_bytes(), 1U);
  EXPECT_NE(allocator.allocate(64), 0U);
  EXPECT_EQ(recorder.status().state, RecorderStatus::State::kRecording);
  EXPECT_EQ(recorder.status().samples, 1U);
  recorder.stop();
  EXPECT_EQ(allocator.allocate(64), 0U);
  const RecorderStatus status = recorder.status();
  EXPECT_EQ(status.state, RecorderStatus::State::kStopped);
  EXPECT_EQ(status.samples, 1U);
  EXPECT_EQ(status.file_bytes, std::filesystem::file_size(path()));
  EXPECT_EQ(status.error, "");
}

TEST_F(RecorderFile, CanBeRecordedAgain) {
  RecorderOptions given = options(1);
  given.overwrite = true;
  Recorder recorder(given);
  SampledAllocator allocator(recorder, 1);
  for (int round = 1; round <= 3; ++round) {
    recorder.start();
    for (int i = 0; i < round; ++i) allocator.allocate(8);
    recorder.stop();
    const profile::Recording recording = read_sound(path());
    EXPECT_EQ(recording.samples.size(), static_cast<std::size_t>(round));
  }
}

TEST_F(RecorderFile, OnlyOneRecordingRunsAtATime) {
  Recorder recorder(options());
  recorder.start();
  RecorderOptions other = options();
  other.file = path("other.fallow");
  Recorder second(other);
  EXPECT_THROW(second.start(), UsageError);
  EXPECT_THROW(recorder.start(), UsageError);
  second.stop();  // not its own
  EXPECT_EQ(recorder.status().state, RecorderStatus::State::kRecording);
  EXPECT_FALSE(std::filesystem::exists(path("other.fallow")));
}

TEST_F(RecorderFile, ThatCannotBeUsedIsATypedError) {
  const auto reason_for = [&](const std::string& file, bool overwrite = false) {
    RecorderOptions given = options();
    given.file = file;
    given.overwrite = overwrite;
    Recorder recorder(given);
    try {
      recorder.start();
    } catch (const FileError& error) {
      EXPECT_EQ(error.path(), file);
      EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
      return error.reason();
    }
    ADD_FAILURE() << file << " was accepted";
    return FileError::Reason::kOther;
  };
  std::ofstream(path("there")) << "precious";
  EXPECT_EQ(reason_for(path("there")), FileError::Reason::kExists);
  EXPECT_EQ(std::filesystem::file_size(path("there")), 8U);
  EXPECT_EQ(reason_for(path("")), FileError::Reason::kDirectory);
  EXPECT_EQ(reason_for(path(""), true), FileError::Reason::kDirectory);
  EXPECT_EQ(reason_for(path("missing/x")), FileError::Reason::kNoDirectory);
  EXPECT_EQ(reason_for("/proc/fallow"), FileError::Reason::kNoDirectory);
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(reason_for(path("fifo")), FileError::Reason::kNoReader);
  EXPECT_EQ(reason_for("/dev/full"), FileError::Reason::kOther);
  // Nothing of this is in the way of a recording.
  Recorder recorder(options());
  recorder.start();
}

TEST_F(RecorderFile, NameMayHoldTheProcess) {
  RecorderOptions given = options();
  given.file = path("a-%p-%p");
  Recorder recorder(given);
  recorder.start();
  const std::string pid = std::to_string(getpid());
  EXPECT_EQ(recorder.status().file, path("a-" + pid + "-" + pid));
  recorder.stop();
  read_sound(path("a-" + pid + "-" + pid));
}

TEST_F(RecorderFile, HasAnEpochForEachInterval) {
  Recorder recorder(options(1));
  recorder.start();
  SampledAllocator allocator(recorder, 1);
  for (const std::size_t interval : {1, 2, 4, 2, 1}) {
    allocator.set_interval(interval);
    allocator.allocate(4096);
  }
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  ASSERT_EQ(recording.samples.size(), 5U);
  std::vector<std::uint64_t> intervals;
  for (const auto& sample : recording.samples) intervals.push_back(recording.interval_of(sample));
  EXPECT_EQ(intervals, (std::vector<std::uint64_t>{1, 2, 4, 2, 1}));
}

}  // namespace
}  // namespace fallow::test
