// What is set aside for those who may neither reclaim nor wait.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fallow/errors.h"
#include "tests/device/fake_language.h"
#include "tests/device/test_support.h"

namespace fallow::device {

namespace {

using test::TestDevice;

using test::kKiB;

DeviceOptions with_reserve(std::size_t bytes) {
  DeviceOptions options = test::undamped();
  options.emergency_bytes = bytes;
  options.max_regions = 1;
  return options;
}

std::vector<Allocation> fill(Device& device) {
  std::vector<Allocation> blocks;
  while (const auto block = device.try_allocate({.bytes = kKiB})) blocks.push_back(*block);
  return blocks;
}

TEST(Emergency, ServesRespondersWhenTheDeviceIsFull) {
  TestDevice test(64 * kKiB, with_reserve(8 * kKiB));
  const auto blocks = fill(test.device);
  EXPECT_EQ(blocks.size(), 56U);
  std::vector<Allocation> inside;
  const auto token = test.device.add_responder([&](const PressureInfo&) {
    inside.push_back(test.device.allocate(5 * kKiB));
    EXPECT_EQ(test.usage().emergency_free_bytes, 3 * kKiB);
    EXPECT_THROW(test.device.allocate(5 * kKiB), OutOfDeviceMemory);
    return PressureOutcome::done();
  });
  EXPECT_THROW(test.device.allocate(kKiB), OutOfDeviceMemory);
  ASSERT_EQ(inside.size(), 1U);
  EXPECT_TRUE(test.consistent());
  test.device.free(inside.front());
  EXPECT_EQ(test.usage().emergency_free_bytes, 8 * kKiB);
  EXPECT_EQ(test.usage().current_bytes, 56 * kKiB);
}

TEST(Emergency, ServesCollectionsAndNobodyElse) {
  const test::FakeLanguage language;
  TestDevice test(64 * kKiB, with_reserve(8 * kKiB));
  const auto blocks = fill(test.device);
  EXPECT_THROW(test.device.allocate(kKiB), OutOfDeviceMemory);
  test::FakeLanguage::collecting = true;
  const Allocation block = test.device.allocate(8 * kKiB);
  test::FakeLanguage::collecting = false;
  // Nobody outside gets what comes free there.
  test.device.free(block);
  EXPECT_FALSE(test.device.try_allocate({.bytes = kKiB}));
  EXPECT_EQ(test.usage().free_bytes, 0U);
}

TEST(Emergency, IsNeverTrimmedAndGivenBackAtTheEnd) {
  auto backend = std::make_shared<HostBackend>(TestDevice::of_size(64 * kKiB));
  {
    Device device(backend, with_reserve(8 * kKiB));
    device.free(device.allocate(kKiB));
    EXPECT_EQ(device.trim(), 56 * kKiB);
    EXPECT_EQ(backend->free_bytes(0), 56 * kKiB);
  }
  EXPECT_EQ(backend->free_bytes(0), 64 * kKiB);
}

TEST(Emergency, IsLessThanHalfOfADomain) {
  auto backend = std::make_shared<HostBackend>(TestDevice::of_size(64 * kKiB));
  EXPECT_THROW(Device(backend, with_reserve(32 * kKiB)), OptionError);
  EXPECT_THROW(Device(backend, with_reserve(~std::size_t{0})), OptionError);
  const Device good(backend, with_reserve(31 * kKiB));
}

}  // namespace

}  // namespace fallow::device
