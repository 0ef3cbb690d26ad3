// Frees that wait for streams.
#include <chrono>
#include <vector>

#include "tests/device/test_support.h"

namespace fallow::device {
namespace {

using test::kKiB;
using test::kMiB;
using test::TestDevice;

// Checklist 19: a block that a stream still uses is not handed out.
TEST(Streams, MemoryInFlightIsNotUsedAgain) {
  DeviceOptions options = test::undamped();
  options.pressure_budget = std::chrono::milliseconds(20);
  TestDevice test(kMiB, options);
  test.backend->submit_held(3);
  const Allocation block = test.device.allocate(kMiB);
  test.device.free_after(block, std::vector<StreamId>{3});
  EXPECT_EQ(test.usage().in_flight_bytes, kMiB);
  EXPECT_EQ(test.usage().free_bytes, 0U);
  EXPECT_THROW(test.device.free(block), StaleAllocation);
  try {
    test.device.allocate(128);
    FAIL();
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_EQ(error.report().in_flight_bytes, kMiB);
  }
  test.backend->advance(3);
  EXPECT_TRUE(test.device.allocate(kMiB));
  EXPECT_EQ(test.usage().in_flight_bytes, 0U);
  EXPECT_TRUE(test.consistent());
}

TEST(Streams, WorkSubmittedLaterDoesNotCount) {
  TestDevice test(kMiB);
  const Allocation block = test.device.allocate(kMiB);
  test.device.free_after(block, std::vector<StreamId>{0});
  test.backend->submit_held(0);
  EXPECT_TRUE(test.device.try_allocate({.bytes = 128}) || (test.device.poll(), true));
  EXPECT_EQ(test.usage().in_flight_bytes, 0U);
}

TEST(Streams, AllOfSeveralMustBeDone) {
  TestDevice test(kMiB);
  for (StreamId stream = 1; stream <= 3; ++stream) test.backend->submit_held(stream);
  const Allocation block = test.device.allocate(kMiB);
  EXPECT_THROW(test.device.free_after(block, std::vector<StreamId>{1, 2, 3, 4, 5}), UsageError);
  test.device.free_after(block, std::vector<StreamId>{1, 2, 3});
  for (const StreamId stream : {2U, 1U, 3U}) {
    test.device.poll();
    EXPECT_EQ(test.usage().in_flight_bytes, kMiB);
    test.backend->advance(stream);
  }
  test.device.poll();
  EXPECT_EQ(test.usage().in_flight_bytes, 0U);
  EXPECT_EQ(test.usage().current_bytes, 0U);
}

TEST(Streams, PressureWaitsForWorkInFlightBeforeItCallsAnybody) {
  TestDevice test(kMiB);
  int calls = 0;
  const auto token = test.device.add_responder([&](const PressureInfo&) {
    ++calls;
    return PressureOutcome::done();
  });
  test.backend->submit(1, std::chrono::milliseconds(5));
  test.backend->submit(2, std::chrono::milliseconds(10));
  std::vector<Allocation> blocks;
  for (int i = 0; i < 2; ++i) blocks.push_back(test.device.allocate(512 * kKiB));
  test.device.free_after(blocks[0], std::vector<StreamId>{1});
  test.device.free_after(blocks[1], std::vector<StreamId>{2});
  EXPECT_TRUE(test.device.allocate(kMiB));
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(test.pressure().windows, 1U);
}

TEST(Streams, ADeviceMayGoWithWorkInFlight) {
  TestDevice test(kMiB);
  test.backend->submit_held(1);
  test.device.free_after(test.device.allocate(kKiB), std::vector<StreamId>{1});
}

}  // namespace
}  // namespace fallow::device
