// Samples of time, beside those of allocations.
#include <signal.h>

#include <atomic>
#include <thread>

#include "platform/clock.h"
#include "telemetry/collector_time.h"
#include "tests/profile/record/record_support.h"

namespace fallow::test {
namespace {

using profile::Recorder;
using profile::RecorderOptions;
using profile::TimeSampling;

class TimeSamples : public RecordTest {
 protected:
  [[nodiscard]] RecorderOptions timed(TimeSampling mode) const {
    RecorderOptions given = options(1 << 20);
    given.time = mode;
    given.time_interval_ns = 1'000'000;
    return given;
  }
};

[[gnu::noinline]] void burn(std::uint64_t cpu_ns) {
  const std::uint64_t end = platform::thread_cpu_ns() + cpu_ns;
  while (platform::thread_cpu_ns() < end) {
  }
  asm volatile("");
}

double sum(const profile::Recording& recording, bool in_collector) {
  double ns = 0;
  for (const profile::TimeSample& sample : recording.time_samples) {
    if (sample.in_collector == in_collector) ns += static_cast<double>(sample.weight_ns);
  }
  return ns;
}

TEST_F(TimeSamples, StandForTheCpuTimeOfAllThreadsThatRun) {
  Recorder recorder(timed(TimeSampling::kCpu));
  recorder.start();
  // Until the recorder has found a thread its time does not count: begin with some of it.
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([] { burn(400'000'000); });
  telemetry::enter_collector();
  burn(400'000'000);
  telemetry::leave_collector();
  for (std::thread& thread : threads) thread.join();
  recorder.stop();
  const auto status = recorder.status();
  const profile::Recording recording = read_sound(path());
  EXPECT_EQ(recording.time_samples.size(), status.time_samples);
  EXPECT_LE(sum(recording, false), 1.4e9);
  EXPECT_GE(sum(recording, false), 0.6e9);
  EXPECT_LE(sum(recording, true), 0.5e9);
  EXPECT_GE(sum(recording, true), 0.2e9);
  std::size_t deep = 0;
  for (const profile::TimeSample& sample : recording.time_samples) {
    deep += stack_of(recording, sample.node).size() >= 2 ? 1 : 0;
  }
  EXPECT_GT(deep, recording.time_samples.size() / 4);
}

TEST_F(TimeSamples, OfTheWallClockCountWaiting) {
  Recorder recorder(timed(TimeSampling::kWall));
  recorder.start();
  const std::uint64_t end = platform::monotonic_ns() + 300'000'000;
  while (platform::monotonic_ns() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  recorder.stop();
  EXPECT_GE(sum(read_sound(path()), false), 0.05e9);
}

TEST_F(TimeSamples, AreRefusedWhenTheProgramUsesTheSignal) {
  EXPECT_EQ(in_child([&] {
              signal(SIGPROF, [](int) {});
              Recorder recorder(timed(TimeSampling::kCpu));
              try {
                recorder.start();
              } catch (const Error&) {
                _exit(std::filesystem::exists(path()) ? 2 : 0);
              }
              _exit(1);
            }),
            0);
}

TEST_F(TimeSamples, ThreadsAllocateAndAreInterruptedAllTheTime) {
  RecorderOptions given = timed(TimeSampling::kCpu);
  given.time_interval_ns = 100'000;
  given.interval_bytes = 64;
  Recorder recorder(given);
  recorder.start();
  std::atomic<std::uint64_t> samples{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      SampledAllocator allocator(recorder, 64, static_cast<std::uint64_t>(i + 1));
      const std::uint64_t end = platform::thread_cpu_ns() + 200'000'000;
      while (platform::thread_cpu_ns() < end) {
        for (int j = 0; j < 100; ++j) allocator.allocate(100);
      }
      samples += allocator.samples();
    });
  }
  for (std::thread& thread : threads) thread.join();
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  EXPECT_EQ(recording.samples.size(), samples.load());
  EXPECT_GT(recording.time_samples.size(), 0U);
}

}  // namespace
}  // namespace fallow::test
