// Checklist 23: the child of a fork finds no lock taken, cannot use the device, and frees nothing.
#include <atomic>
#include <latch>
#include <string>
#include <thread>

#include "tests/device/test_support.h"
#include "tests/platform/child_process.h"

namespace fallow::device {
namespace {

using test::kKiB;
using test::kMiB;
using test::TestDevice;

int use_in_child(TestDevice& test, Allocation block, Registration& token) {
  alarm(60);
  if (test.device.usable()) return 1;
  test.device.free(block);
  test.device.free(block);  // not even looked at
  try {
    test.device.allocate(kKiB);
    return 2;
  } catch (const DeviceUnusable& error) {
    if (std::string(error.what()).find("before a fork") == std::string::npos) return 3;
  }
  try {
    test.device.allocate(0);
    return 4;
  } catch (const DeviceUnusable&) {
  }
  test.device.poll();
  if (test.device.trim() != 0) return 5;
  token.reset();
  return test.device.statistics().frees == 0 ? 0 : 6;
}

TEST(DeviceFork, TheChildCannotUseTheDevice) {
  TestDevice test(kMiB);
  const Allocation block = test.device.allocate(kKiB);
  Registration token =
      test.device.add_responder([](const PressureInfo&) { return PressureOutcome::done(); });
  EXPECT_EQ(test::run_in_child([&] { return use_in_child(test, block, token); }), 0);
  EXPECT_TRUE(test.device.usable());
  test.device.free(block);
  // A device of its own is as good as any.
  EXPECT_EQ(test::run_in_child([] {
              TestDevice own(kMiB);
              own.device.free(own.device.allocate(kKiB));
              return own.device.usable() ? 0 : 1;
            }),
            0);
}

TEST(DeviceFork, FindsTheMutexFreeAndNobodyWaiting) {
  const test::Watchdog watchdog;
  TestDevice test(64 * kKiB, test::undamped());
  const Allocation block = test.device.allocate(64 * kKiB);
  std::atomic<bool> go_on{false};
  std::atomic<bool> inside{false};
  Registration token = test.device.add_responder([&](const PressureInfo&) {
    inside.store(true);
    go_on.wait(false);
    return PressureOutcome::done();
  });
  // One thread is inside a responder, and another holds the mutex now and then.
  std::thread waits([&] { EXPECT_THROW(test.device.allocate(kKiB), OutOfDeviceMemory); });
  std::thread holds([&] {
    auto& core = detail::DeviceAccess::core(test.device);
    while (!go_on.load()) {
      const detail::DeviceCore::Locked lock(core);
      std::this_thread::yield();
    }
  });
  while (!inside.load()) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(test::run_in_child([&] { return use_in_child(test, block, token); }), 0);
  }
  go_on.store(true);
  go_on.notify_all();
  waits.join();
  holds.join();
  test.device.free(block);
  EXPECT_TRUE(test.consistent());
}

}  // namespace
}  // namespace fallow::device
