#include "fallow/host_backend.h"

#include <chrono>
#include <cstring>
#include <thread>

#include "platform/thread_id.h"
#include "tests/device/test_support.h"

namespace fallow::device {
namespace {

using std::chrono::milliseconds;
using test::kKiB;
using test::kMiB;
using test::TestDevice;

TEST(HostBackend, HandsOutWhatItDeclares) {
  HostBackend backend(TestDevice::of_size(kMiB, 2));
  RegionMemory memory;
  EXPECT_FALSE(backend.reserve(0, MemoryType::kTensor, kMiB + 1, memory));
  ASSERT_TRUE(backend.reserve(1, MemoryType::kTensor, kMiB, memory));
  EXPECT_EQ(backend.free_bytes(0), kMiB);
  EXPECT_EQ(backend.free_bytes(1), 0U);
  std::memset(memory.host, 1, kMiB);
  backend.release(1, memory, kMiB);
  EXPECT_EQ(backend.free_bytes(1), kMiB);
}

TEST(HostBackend, ChecksItsOptions) {
  HostBackendOptions options;
  options.domains.clear();
  EXPECT_THROW(HostBackend{options}, OptionError);
  options = TestDevice::of_size(kMiB, 2);
  EXPECT_EQ(HostBackend(options).distance(0, 1), 20U);
  EXPECT_EQ(HostBackend(options).distance(1, 1), 10U);
  options.distances = {10, 15, 15};
  EXPECT_THROW(HostBackend{options}, OptionError);
  options.distances = {10, 15, 16, 10};
  EXPECT_EQ(HostBackend(options).distance(1, 0), 16U);
}

TEST(HostBackend, PassesTheTimeThatItDeclares) {
  HostBackendOptions options;
  options.reserve_latency = milliseconds(3);
  HostBackend backend(options);
  RegionMemory memory;
  const auto before = Clock::now();
  ASSERT_TRUE(backend.reserve(0, MemoryType::kTensor, kMiB, memory));
  EXPECT_GE(Clock::now() - before, milliseconds(3));
  backend.release(0, memory, kMiB);
}

TEST(HostBackend, StreamsWorkInOrder) {
  HostBackend backend;
  EXPECT_EQ(backend.record(5), 0U);
  EXPECT_TRUE(backend.wait(5, 0, Clock::now()));
  EXPECT_EQ(backend.submit_held(5), 1U);
  EXPECT_EQ(backend.submit(5, milliseconds(0)), 2U);
  EXPECT_EQ(backend.record(5), 2U);
  EXPECT_EQ(backend.completed(5), 0U);
  EXPECT_FALSE(backend.wait(5, 1, Clock::now() + milliseconds(1)));
  backend.advance(5);
  EXPECT_TRUE(backend.wait(5, 2, Clock::now() + std::chrono::seconds(60)));
  EXPECT_EQ(backend.completed(5), 2U);
  backend.submit(5, milliseconds(2));
  EXPECT_TRUE(backend.wait(5, 3, Clock::time_point::max()));
}

TEST(FaultInjector, FailsTheNthAllocation) {
  TestDevice test(kMiB);
  test.backend->injector().set({.nth_allocation = 3});
  EXPECT_TRUE(test.device.allocate(1));
  EXPECT_TRUE(test.device.allocate(1));
  try {
    test.device.allocate(1);
    FAIL();
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_EQ(error.report().given_up, GivenUp::kInjected);
  }
  EXPECT_TRUE(test.device.allocate(1));
  EXPECT_EQ(test.backend->injector().injected(), 1U);
}

TEST(FaultInjector, FailsTheNthByte) {
  TestDevice test(kMiB);
  test.backend->injector().set({.nth_byte = 4 * kKiB});
  EXPECT_TRUE(test.device.try_allocate({.bytes = 3 * kKiB}));
  EXPECT_FALSE(test.device.try_allocate({.bytes = 2 * kKiB}));
  EXPECT_TRUE(test.device.try_allocate({.bytes = 2 * kKiB}));
}

TEST(FaultInjector, FailsTheNthRegion) {
  DeviceOptions options = test::undamped();
  options.region_bytes = {64 * kKiB};
  TestDevice test(kMiB, options);
  test.backend->injector().set({.nth_reserve = 2});
  EXPECT_TRUE(test.device.try_allocate({.bytes = 64 * kKiB}));
  EXPECT_FALSE(test.device.try_allocate({.bytes = 64 * kKiB}));
  EXPECT_EQ(test.usage().reserved_bytes, 64 * kKiB);
  EXPECT_TRUE(test.device.try_allocate({.bytes = 64 * kKiB}));
}

TEST(FaultInjector, DrawsTheSameFromTheSameSeed) {
  const auto pattern = [](std::uint64_t seed) {
    TestDevice test(kMiB);
    test.backend->injector().set({.probability = 0.3, .seed = seed});
    std::string result;
    for (int i = 0; i < 200; ++i) {
      result += test.device.try_allocate({.bytes = 128}) ? '.' : 'x';
    }
    return result;
  };
  EXPECT_EQ(pattern(1), pattern(1));
  EXPECT_NE(pattern(1), pattern(2));
  const std::string one = pattern(1);
  const auto failures = std::count(one.begin(), one.end(), 'x');
  EXPECT_GT(failures, 30);
  EXPECT_LT(failures, 90);
}

TEST(FaultInjectorThreads, FailsOnlyTheThreadThatIsNamed) {
  TestDevice test(kMiB);
  test.backend->injector().set({.every_allocation = 1, .thread = platform::current_thread_id()});
  EXPECT_FALSE(test.device.try_allocate({.bytes = 128}));
  std::thread([&] { EXPECT_TRUE(test.device.try_allocate({.bytes = 128})); }).join();
}

}  // namespace
}  // namespace fallow::device
