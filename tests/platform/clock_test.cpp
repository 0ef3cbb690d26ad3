#include "platform/clock.h"

#include <gtest/gtest.h>
#include <time.h>

#include <cmath>
#include <string>

namespace fallow::platform {
namespace {

void sleep_ms(long ms) {
  const timespec duration{0, ms * 1'000'000};
  nanosleep(&duration, nullptr);
}

void burn_cpu_ns(uint64_t ns) {
  const uint64_t start = thread_cpu_ns();
  while (thread_cpu_ns() - start < ns) {
  }
}

TEST(Clock, MonotonicNeverGoesBack) {
  uint64_t last = monotonic_ns();
  for (int i = 0; i < 10000; ++i) {
    const uint64_t now = monotonic_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, SleepingTakesWallTimeButLittleCpu) {
  const uint64_t wall = monotonic_ns();
  const uint64_t cpu = thread_cpu_ns();
  sleep_ms(20);
  EXPECT_GE(monotonic_ns() - wall, 20'000'000u);
  EXPECT_LT(thread_cpu_ns() - cpu, 15'000'000u);
}

TEST(Clock, ProcessTimeCoversThreadTime) {
  const uint64_t before = process_cpu_ns();
  burn_cpu_ns(3'000'000);
  EXPECT_GE(process_cpu_ns() - before, 2'900'000u);
}

TEST(Clock, TicksMatchTheirFrequency) {
  const double frequency = ticks_per_second();
  EXPECT_GE(frequency, 1e6);
  EXPECT_LE(frequency, 2e10);
  EXPECT_EQ(frequency, ticks_per_second());
  const std::string source = ticks_source();
  if (source == "thread_cpu") GTEST_SKIP() << "no counter that follows wall time";
  // A descheduling between the two clocks spoils one attempt, not all of them.
  double best_error = 1;
  for (int attempt = 0; attempt < 5 && best_error > 0.01; ++attempt) {
    const uint64_t first_ticks = ticks();
    const uint64_t first_ns = monotonic_ns();
    sleep_ms(20);
    const uint64_t last_ticks = ticks();
    const uint64_t last_ns = monotonic_ns();
    const double from_ticks = static_cast<double>(last_ticks - first_ticks) / frequency;
    const double from_ns = static_cast<double>(last_ns - first_ns) * 1e-9;
    best_error = std::fmin(best_error, std::fabs(from_ticks / from_ns - 1));
  }
  EXPECT_LE(best_error, 0.01);
}

TEST(Clock, TicksAdvance) {
  const uint64_t before = ticks();
  burn_cpu_ns(100'000);
  EXPECT_GT(ticks(), before);
}

}  // namespace
}  // namespace fallow::platform
