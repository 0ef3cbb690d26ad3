#include "platform/ranked_mutex.h"

#include <fallow/detail/build_config.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fatal_capture.h"

namespace fallow::platform {
namespace {

template <typename Action>
std::string message_of(Action action) {
  const test::FatalCapture capture;
  try {
    action();
  } catch (const test::FatalError& error) {
    return error.what();
  }
  return {};
}

class RankedMutexChecks : public testing::Test {
 protected:
  void SetUp() override {
    if constexpr (!fallow::detail::kChecked) GTEST_SKIP() << "only checked builds check";
  }
  RankedMutex low_{LockRank::kHeapState, "state"};
  RankedMutex high_{LockRank::kLog, "log"};
  RankedMutex same_{LockRank::kHeapState, "other state"};
};

TEST(RankedMutex, ExcludesOtherThreads) {
  RankedMutex mutex(LockRank::kOldSpace, "old");
  int counter = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        const std::lock_guard<RankedMutex> lock(mutex);
        ++counter;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 20000);
  EXPECT_EQ(mutex.rank(), LockRank::kOldSpace);
  EXPECT_STREQ(mutex.name(), "old");
}

TEST(RankedMutex, TryLockReportsContention) {
  RankedMutex mutex(LockRank::kOldSpace, "old");
  mutex.lock();
  bool acquired = true;
  std::thread([&] {
    acquired = mutex.try_lock();
    if (acquired) mutex.unlock();
  }).join();
  EXPECT_FALSE(acquired);
  mutex.unlock();
  ASSERT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST(RankedMutex, WorksWithConditionVariables) {
  RankedMutex mutex(LockRank::kHeapState, "state");
  std::condition_variable_any any;
  int step = 0;
  std::thread other([&] {
    std::unique_lock<RankedMutex> lock(mutex);
    any.wait(lock, [&] { return step == 1; });
    step = 2;
    any.notify_all();
  });
  {
    std::unique_lock<RankedMutex> lock(mutex);
    step = 1;
    any.notify_all();
    any.wait(lock, [&] { return step == 2; });
  }
  other.join();

  std::condition_variable plain;
  bool ready = false;
  std::thread signaller([&] {
    const std::lock_guard<std::mutex> lock(mutex.native());
    ready = true;
    plain.notify_one();
  });
  {
    std::unique_lock<std::mutex> lock(mutex.native());
    plain.wait(lock, [&] { return ready; });
  }
  signaller.join();
}

TEST_F(RankedMutexChecks, AscendingOrderIsAllowedAndReleaseInAnyOrder) {
  EXPECT_EQ(message_of([&] {
              low_.lock();
              high_.lock();
              low_.unlock();
              EXPECT_TRUE(high_.held_by_this_thread());
              EXPECT_FALSE(low_.held_by_this_thread());
              high_.unlock();
              low_.lock();
              low_.unlock();
            }),
            "");
}

TEST_F(RankedMutexChecks, DescendingOrderIsFatalAndNamesBoth) {
  const std::lock_guard<RankedMutex> lock(high_);
  EXPECT_EQ(message_of([&] { low_.lock(); }),
            "lock order: 'state' (rank 30) acquired while holding 'log' (rank 90)");
}

TEST_F(RankedMutexChecks, EqualRanksAreFatal) {
  const std::lock_guard<RankedMutex> lock(low_);
  EXPECT_EQ(message_of([&] { same_.lock(); }),
            "lock order: 'other state' (rank 30) acquired while holding 'state' (rank 30)");
}

TEST_F(RankedMutexChecks, RecursionIsFatal) {
  const std::lock_guard<RankedMutex> lock(low_);
  const std::string expected = "lock 'state' (rank 30) acquired twice by one thread";
  EXPECT_EQ(message_of([&] { low_.lock(); }), expected);
  EXPECT_EQ(message_of([&] { static_cast<void>(low_.try_lock()); }), expected);
}

TEST_F(RankedMutexChecks, TryLockMayGoAgainstTheOrderButCountsAsHeld) {
  const std::lock_guard<RankedMutex> lock(high_);
  ASSERT_TRUE(low_.try_lock());
  EXPECT_TRUE(low_.held_by_this_thread());
  EXPECT_NE(message_of([&] { same_.lock(); }), "");
  low_.unlock();
}

TEST_F(RankedMutexChecks, ReleasingWhatIsNotHeldIsFatal) {
  EXPECT_EQ(message_of([&] { low_.unlock(); }),
            "lock 'state' (rank 30) released by a thread that does not hold it");
}

TEST_F(RankedMutexChecks, HeldLocksArePerThread) {
  const std::lock_guard<RankedMutex> lock(high_);
  std::thread([&] {
    EXPECT_FALSE(high_.held_by_this_thread());
    const std::lock_guard<RankedMutex> other(low_);  // would be fatal in the outer thread
  }).join();
}

}  // namespace
}  // namespace fallow::platform
