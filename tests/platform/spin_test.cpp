#include "platform/spin.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace fallow::platform {
namespace {

constexpr uint64_t kLongNs = 10'000'000'000;

TEST(SpinUntil, AsksBeforeItWaits) {
  EXPECT_TRUE(spin_until([] { return true; }, 0));
}

TEST(SpinUntil, EndsAtTheLimit) {
  int asked = 0;
  EXPECT_FALSE(spin_until([&] { return ++asked < 0; }, 1'000));
  EXPECT_GE(asked, 1);
}

TEST(SpinUntil, SeesWhatAnotherThreadDoes) {
  if (!can_run_at_once(2)) GTEST_SKIP() << "one processor";
  std::atomic<bool> done{false};
  std::thread other([&] { done.store(true); });
  EXPECT_TRUE(spin_until([&] { return done.load(); }, kLongNs));
  other.join();
}

}  // namespace
}  // namespace fallow::platform
