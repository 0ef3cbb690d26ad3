// After a ladder that failed: the next one waits, and nobody fails for garbage that was there.
#include "device/damper.h"

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "tests/device/fake_language.h"
#include "tests/device/hoard.h"
#include "tests/device/test_support.h"

namespace fallow::device {
namespace {

using std::chrono::milliseconds;
using test::FakeLanguage;
using test::Hoard;
using test::kKiB;
using test::kMiB;
using test::report_of;
using test::TestDevice;

constexpr std::size_t kBlock = 64 * kKiB;

// Checklist 11: a program that tries again and again does not pay for a ladder each time.
TEST(Damper, TheDamperBoundsFruitlessLadders) {
  DeviceOptions options;
  options.damper_interval = std::chrono::hours(1);
  TestDevice test(kMiB, options);
  std::vector<Allocation> live;
  for (int i = 0; i < 16; ++i) live.push_back(test.device.allocate(64 * kKiB));
  int calls = 0;
  const auto token = test.device.add_responder([&](const PressureInfo&) {
    ++calls;
    return PressureOutcome::done();
  });
  EXPECT_EQ(report_of(test.device, {.bytes = 128 * kKiB}).given_up, GivenUp::kNothingLeft);
  for (int i = 0; i < 100; ++i) {
    const OutOfMemoryReport report =
        report_of(test.device, {.bytes = 128 * kKiB, .budget = std::chrono::microseconds(100)});
    EXPECT_EQ(report.given_up, GivenUp::kDamped);
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(test.pressure().damped, 100U);
  // Much has changed: the ladder is worth climbing again.
  test.device.free(live.back());
  test.device.allocate(64 * kKiB);
  EXPECT_EQ(report_of(test.device, {.bytes = 128 * kKiB}).given_up, GivenUp::kNothingLeft);
  EXPECT_EQ(calls, 2);
  // Damped or not, memory that is there is found.
  test.device.free(live[0]);
  EXPECT_TRUE(test.device.allocate(64 * kKiB));
}

// No false out-of-memory: what was dropped after a fruitless ladder, without any byte having moved,
// is found by the next request, however early it comes.
TEST(Damper, GarbageDroppedAfterAFailureIsFound) {
  DeviceOptions options;
  options.damper_interval = milliseconds(20);
  TestDevice test(kMiB, options);
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  bool dropped = false;
  int calls = 0;
  const auto token = test.device.add_responder([&](const PressureInfo&) {
    ++calls;
    if (std::exchange(dropped, false)) hoard.drop(1);
    return PressureOutcome::done();
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(report_of(test.device, {.bytes = 64 * kKiB}).given_up, GivenUp::kNothingLeft);
    dropped = true;
    EXPECT_TRUE(test.device.allocate(64 * kKiB));
  }
  EXPECT_EQ(test.pressure().failed, 3U);
}

// A program that is out of memory and asks as fast as it can: how often responders run is bounded
// by the time that has passed.
TEST(Damper, QuietTimesLieBetweenFruitlessLadders) {
  DeviceOptions options;
  options.damper_interval = milliseconds(2);
  TestDevice test(kMiB, options);
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  int calls = 0;
  const auto token = test.device.add_responder([&](const PressureInfo&) {
    ++calls;
    return PressureOutcome::done();
  });
  const auto began = Clock::now();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(report_of(test.device, {.bytes = 64 * kKiB}).given_up, GivenUp::kNothingLeft);
  }
  EXPECT_EQ(calls, 20);
  EXPECT_GE(Clock::now() - began, 19 * milliseconds(2));
}

/// A full device on which a ladder has failed, so that the next request rests for an hour.
struct QuietDevice {
  QuietDevice() : test(4 * kBlock, quiet()) {
    while (const auto block = test.device.try_allocate({.bytes = kBlock / 2})) {
      blocks.push_back(*block);
    }
    token = test.device.add_responder([](const PressureInfo&) { return PressureOutcome::done(); });
    EXPECT_THROW(test.device.allocate(kBlock), OutOfDeviceMemory);
  }
  void await_rest() {
    auto& core = detail::DeviceAccess::core(test.device);
    for (;;) {
      const detail::DeviceCore::Locked lock(core);
      if (!core.pressure[0].resting.empty()) return;
    }
  }
  static DeviceOptions quiet() {
    DeviceOptions options;
    options.damper_interval = std::chrono::hours(1);
    options.damper_bytes = 1U << 30;
    return options;
  }
  TestDevice test;
  std::vector<Allocation> blocks;
  Registration token;
};

TEST(DamperThreads, WhoRestsHoldsNobodyUpAndIsServedFirst) {
  const test::Watchdog watchdog;
  QuietDevice quiet;
  std::thread resting([&] { EXPECT_TRUE(quiet.test.device.allocate(kBlock)); });
  quiet.await_rest();
  // Half of it comes free: enough for a small request, which passes.
  quiet.test.device.free(quiet.blocks[0]);
  const Allocation small = quiet.test.device.allocate(kBlock / 2);
  EXPECT_TRUE(small);
  quiet.test.device.free(small);
  quiet.test.device.free(quiet.blocks[1]);
  resting.join();
  EXPECT_FALSE(quiet.test.device.try_allocate({.bytes = kBlock / 2}));
  EXPECT_TRUE(quiet.test.consistent());
}

TEST(DamperThreads, ASignalEndsTheRest) {
  const test::Watchdog watchdog;
  QuietDevice quiet;
  FakeLanguage language;
  std::thread resting([&] {
    language.enter();
    try {
      quiet.test.device.allocate(kBlock);
      ADD_FAILURE() << "there is no room";
    } catch (const OutOfDeviceMemory& error) {
      EXPECT_EQ(error.report().given_up, GivenUp::kInterrupted);
    }
    language.leave();
  });
  quiet.await_rest();
  language.signal.store(true);
  resting.join();
}

}  // namespace
}  // namespace fallow::device
