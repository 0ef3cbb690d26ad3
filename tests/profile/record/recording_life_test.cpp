// What may happen to a process and to its disk while it is recorded.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "profile/record/interval_control.h"
#include "tests/profile/record/record_support.h"

namespace fallow::test {
namespace {

using profile::Recorder;
using profile::RecorderOptions;
using profile::RecorderStatus;
using State = RecorderStatus::State;

class RecordingLife : public RecordTest {};

void allocate_some(SampledAllocator& allocator, int count) {
  for (int i = 0; i < count; ++i) allocator.allocate(100);
}

TEST_F(RecordingLife, KilledAtAnyMomentLeavesSoundChunks) {
  constexpr int kRounds = 200;
  RecorderOptions given = options(64);
  given.flush_interval_ns = 1'000'000;
  given.overwrite = true;
  platform::SplitMix64 random(20261202);
  std::size_t with_samples = 0;
  for (int round = 0; round < kRounds; ++round) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      Recorder recorder(given);
      recorder.start();
      SampledAllocator allocator(recorder, 64);
      if (write(ready[1], "x", 1) != 1) _exit(1);
      for (;;) allocate_some(allocator, 1000);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(random.next() % 10'000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    const profile::Recording recording = profile::read_recording_file(path());
    with_samples += recording.samples.empty() ? 0 : 1;
    // All that may be wrong is the end of the last write.
    if (recording.damage) {
      ASSERT_EQ(recording.damage->offset, recording.file_bytes);
    }
    std::uint64_t sequence = 0;
    for (const profile::Sample& sample : recording.samples) {
      ASSERT_EQ(sample.sequence, ++sequence);
    }
  }
  EXPECT_GT(with_samples, kRounds / 2);
}

TEST_F(RecordingLife, AFullDiskEndsTheRecordingAndNotTheProgram) {
  const int code = in_child([&] {
    RecorderOptions given = options(1);
    given.flush_interval_ns = 1'000'000;
    const rlimit limit{200'000, 200'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    Recorder recorder(given);
    recorder.start();
    SampledAllocator allocator(recorder, 1);
    platform::SplitMix64 random(5);
    for (int i = 0; i < 3000 && recorder.status().state == State::kRecording; ++i) {
      for (int j = 0; j < 1000; ++j) allocator.allocate(random.next() % 100'000);
      recorder.flush();
    }
    const RecorderStatus status = recorder.status();
    recorder.stop();
    const bool told =
        status.state == State::kFailed && status.error.find("File too large") != std::string::npos;
    _exit(told && allocator.allocate(100) == 0 ? 0 : 1);
  });
  EXPECT_EQ(code, 0);
  // What was half written has been cut off.
  const profile::Recording recording = read_sound(path());
  EXPECT_GT(recording.samples.size(), 1000U);
}

TEST_F(RecordingLife, TheSizeLimitIsKept) {
  RecorderOptions given = options(16);
  given.max_file_bytes = 100'000;
  Recorder recorder(given);
  recorder.start();
  SampledAllocator allocator(recorder, 16);
  platform::SplitMix64 random(5);
  for (int i = 0; i < 2000 && recorder.status().state == State::kRecording; ++i) {
    for (int j = 0; j < 1000; ++j) allocator.allocate(random.next() % 100'000);
    recorder.flush();
  }
  EXPECT_EQ(recorder.status().state, State::kSizeLimit);
  recorder.stop();
  EXPECT_LE(std::filesystem::file_size(path()), 100'000U);
  const profile::Recording recording = read_sound(path());
  ASSERT_TRUE(recording.end.has_value());
  EXPECT_EQ(*recording.end, profile::EndReason::kSizeLimit);
}

TEST_F(RecordingLife, APipeIsWrittenLikeAFile) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] {
    std::ifstream pipe(path(), std::ios::binary);
    received.assign(std::istreambuf_iterator<char>(pipe), {});
  });
  Recorder recorder(options(1));
  // Until the reader is there the pipe has none.
  for (;;) {
    try {
      recorder.start();
      break;
    } catch (const profile::FileError& error) {
      ASSERT_EQ(error.reason(), profile::FileError::Reason::kNoReader);
      std::this_thread::yield();
    }
  }
  SampledAllocator allocator(recorder, 1);
  allocate_some(allocator, 1000);
  recorder.stop();
  reader.join();
  std::ofstream(path("copy"), std::ios::binary) << received;
  EXPECT_EQ(read_sound(path("copy")).samples.size(), 1000U);
}

TEST_F(RecordingLife, AChildDoesNotTouchTheParentsFile) {
  Recorder recorder(options(1));
  recorder.start();
  SampledAllocator allocator(recorder, 1);
  allocate_some(allocator, 10);
  const auto run_in_child = [&](bool leaves_by_exit) {
    return in_child([&] {
      allocate_some(allocator, 100'000);
      recorder.flush();
      const bool silent = recorder.status().state == State::kForked;
      recorder.stop();
      if (leaves_by_exit) std::exit(silent ? 0 : 1);
      _exit(silent ? 0 : 1);
    });
  };
  EXPECT_EQ(run_in_child(false), 0);
  EXPECT_EQ(run_in_child(true), 0);
  allocate_some(allocator, 10);
  recorder.stop();
  EXPECT_EQ(read_sound(path()).samples.size(), 20U);
}

TEST_F(RecordingLife, ThreadsThatForkWhileOthersAreSampled) {
  if (kSanitized) GTEST_SKIP() << "a child of many threads may not use the sanitizer's allocator";
  RecorderOptions given = options(4096);
  given.follow_fork = true;
  Recorder recorder(given);
  recorder.start();
  std::atomic<bool> leave{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      SampledAllocator allocator(recorder, 4096, static_cast<std::uint64_t>(i + 1));
      while (!leave.load()) allocate_some(allocator, 100);
    });
  }
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(in_child([&] {
                SampledAllocator allocator(recorder, 64);
                allocate_some(allocator, 1000);
                recorder.stop();
                std::error_code error;
                const std::string own = path() + "." + std::to_string(getpid());
                const profile::Recording recording = profile::read_recording_file(own);
                _exit(recording.samples.size() == allocator.samples() && !recording.damage ? 0 : 1);
              }),
              0);
  }
  leave.store(true);
  for (std::thread& thread : threads) thread.join();
  recorder.stop();
  read_sound(path());
}

TEST_F(RecordingLife, ThreadsComeAndGo) {
  Recorder recorder(options(64));
  recorder.start();
  std::atomic<std::uint64_t> samples{0};
  std::atomic<std::uint64_t> lost_or_less{0};
  for (int round = 0; round < 8; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 64; ++i) {
      threads.emplace_back([&, i] {
        SampledAllocator allocator(recorder, 64, static_cast<std::uint64_t>(i + 1));
        allocate_some(allocator, 500);
        samples += allocator.samples();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  recorder.stop();
  const RecorderStatus status = recorder.status();
  EXPECT_EQ(status.samples, samples.load());
  EXPECT_LT(status.memory_bytes, 64 * kMiB);
  const profile::Recording recording = read_sound(path());
  EXPECT_EQ(recording.samples.size(), samples.load());
  EXPECT_GE(recording.definitions.threads.size(), 64U);
}

TEST_F(RecordingLife, ThreadsStartAndStopItWhileOthersAreSampled) {
  RecorderOptions given = options(1024);
  given.overwrite = true;
  Recorder recorder(given);
  std::atomic<bool> leave{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      SampledAllocator allocator(recorder, 1024, static_cast<std::uint64_t>(i + 1));
      while (!leave.load()) {
        const SampleId id = allocator.allocate(100);
        if (id != 0) recorder.on_freed(id);
      }
    });
  }
  for (int round = 0; round < 10; ++round) {
    recorder.start();
    recorder.flush();
    recorder.stop();
    const profile::Recording recording = read_sound(path());
    EXPECT_TRUE(recording.end.has_value());
  }
  leave.store(true);
  for (std::thread& thread : threads) thread.join();
}

[[gnu::noinline]] void branch(SampledAllocator& allocator, const profile::FunctionId* functions,
                              std::uint64_t choice, int depth) {
  const profile::Frame frame(functions[choice % 8]);
  if (depth == 1) {
    allocator.allocate(64);
  } else {
    branch(allocator, functions, choice / 8, depth - 1);
  }
}

TEST_F(RecordingLife, ManyDifferentStacksAreBoundedAndTotalsRemain) {
  profile::FunctionId functions[8];
  for (int i = 0; i < 8; ++i) {
    functions[i] = profile::register_function({"f" + std::to_string(i), "", 0, {}});
  }
  RecorderOptions given = options(1);
  given.native = profile::NativeStacks::kOff;
  Recorder recorder(given);
  recorder.start();
  SampledAllocator allocator(recorder, 1);
  const std::uint64_t stacks = kSanitized ? 50'000 : 500'000;
  for (std::uint64_t i = 0; i < stacks; ++i) branch(allocator, functions, i * 2654435761U, 12);
  recorder.stop();
  const RecorderStatus status = recorder.status();
  EXPECT_EQ(status.samples + status.lost, stacks);
  EXPECT_LT(status.memory_bytes, 64 * kMiB);
  const profile::Recording recording = read_sound(path());
  EXPECT_EQ(recording.samples.size(), status.samples);
  EXPECT_LE(recording.definitions.nodes.size(), (std::size_t{1} << 20) + 1);
}

TEST(IntervalControl, FollowsTheBudgetByPowersOfTwo) {
  profile::IntervalControl control;
  control.start(0, 0.01, 0);
  EXPECT_EQ(control.interval_bytes(), 512 * kKiB);
  std::uint64_t own = 0;
  std::uint64_t all = 0;
  const auto second = [&](double share) {
    all += 1'000'000'000;
    own += static_cast<std::uint64_t>(share * 1e9);
    control.update({own, all, 0});
    return control.interval_bytes();
  };
  EXPECT_EQ(second(0.05), 1024 * kKiB);
  EXPECT_EQ(second(0.02), 2048 * kKiB);
  EXPECT_EQ(second(0.009), 2048 * kKiB);
  EXPECT_EQ(second(0.003), 2048 * kKiB);
  EXPECT_EQ(second(0.002), 1024 * kKiB);
  for (int i = 0; i < 20; ++i) second(0);
  EXPECT_EQ(control.interval_bytes(), 4 * kKiB);
}

TEST(IntervalControl, AGivenIntervalStaysUnlessTheFileGetsTooLarge) {
  profile::IntervalControl control;
  control.start(1000, 0.01, 1'000'000);
  control.update({500'000'000, 1'000'000'000, 400'000});
  EXPECT_EQ(control.interval_bytes(), 1000U);
  control.update({500'000'000, 2'000'000'000, 510'000});
  EXPECT_EQ(control.interval_bytes(), 2000U);
  control.update({500'000'000, 3'000'000'000, 700'000});
  EXPECT_EQ(control.interval_bytes(), 2000U);
  control.update({500'000'000, 4'000'000'000, 760'000});
  EXPECT_EQ(control.interval_bytes(), 4000U);
}

}  // namespace
}  // namespace fallow::test
