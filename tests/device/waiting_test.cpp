// Several threads under pressure: one reclaims, the others wait in order, and what comes free is
// kept for them.
#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/device/fake_language.h"
#include "tests/device/test_support.h"

namespace fallow::device {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::FakeLanguage;
using test::kKiB;
using test::kMiB;
using test::TestDevice;

constexpr std::size_t kBlock = 64 * kKiB;

/// Yields until a condition holds. The watchdog ends what never does.
template <class Condition>
void await(Condition&& condition) {
  while (!condition()) std::this_thread::yield();
}

/// Requests that wait in the queue of domain 0.
std::size_t queue_length(Device& device) {
  auto& core = detail::DeviceAccess::core(device);
  const detail::DeviceCore::Locked lock(core);
  std::size_t length = 0;
  for (const detail::Waiter* waiter = core.pressure[0].queue.first(); waiter != nullptr;
       waiter = waiter->next) {
    ++length;
  }
  return length;
}

/// A full device whose responder is held until the test lets it go.
class HeldLadder {
 public:
  explicit HeldLadder(TestDevice& test) : test_(test) {
    while (const auto block = test.device.try_allocate({.bytes = kBlock})) {
      blocks.push_back(*block);
    }
    token_ = test.device.add_responder(
        [this](const PressureInfo&) {
          calls.fetch_add(1);
          inside.store(true);
          inside.notify_all();
          held_.wait(true);
          return PressureOutcome::done();
        },
        {.name = "held"});
  }
  void wait_until_inside() { inside.wait(false); }
  void let_go() {
    held_.store(false);
    held_.notify_all();
  }
  void free_one() {
    test_.device.free(blocks.back());
    blocks.pop_back();
  }

  std::vector<Allocation> blocks;
  std::atomic<int> calls{0};
  std::atomic<bool> inside{false};

 private:
  TestDevice& test_;
  std::atomic<bool> held_{true};
  Registration token_;
};

// Checklist 15, bar of fairness: eight threads wait, and get the blocks that come free in the order
// in which they came, although others ask all the time.
TEST(WaitingThreads, ServedInOrderAndNeverOvertaken) {
  const test::Watchdog watchdog;
  constexpr std::size_t kThreads = 8;
  TestDevice test(16 * kBlock);
  HeldLadder ladder(test);
  std::mutex mutex;
  std::vector<std::size_t> served;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const Allocation block = test.device.allocate(kBlock);
      EXPECT_TRUE(block);
      const std::scoped_lock lock(mutex);
      served.push_back(i);
    });
    await([&] { return queue_length(test.device) == i + 1; });
  }
  ladder.wait_until_inside();
  std::atomic<bool> done{false};
  std::atomic<std::size_t> stolen{0};
  std::thread latecomer([&] {
    while (!done.load()) {
      if (const auto block = test.device.try_allocate({.bytes = 128})) {
        if (queue_length(test.device) != 0) stolen.fetch_add(1);
        test.device.free(*block);
      }
    }
  });
  // The first is for the one that reclaims, which is still busy with that.
  ladder.free_one();
  for (std::size_t i = 1; i < kThreads; ++i) {
    ladder.free_one();
    await([&] {
      const std::scoped_lock lock(mutex);
      return served.size() == i;
    });
    EXPECT_EQ(served.back(), i);
  }
  ladder.let_go();
  done.store(true);
  latecomer.join();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stolen.load(), 0U);
  EXPECT_EQ(ladder.calls.load(), 1) << "one reclaims for all";
  EXPECT_EQ(test.pressure().served_waiting, kThreads);
}

TEST(WaitingThreads, OneReclaimAtATime) {
  const test::Watchdog watchdog;
  TestDevice test(16 * kBlock);
  std::mutex mutex;
  std::vector<Allocation> garbage;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<std::size_t> calls{0};
  const auto token = test.device.add_responder([&](const PressureInfo&) {
    const int now = inside.fetch_add(1) + 1;
    if (now > most.load()) most.store(now);
    calls.fetch_add(1);
    std::vector<Allocation> dropped;
    {
      const std::scoped_lock lock(mutex);
      dropped.swap(garbage);
    }
    for (const Allocation block : dropped) test.device.free(block);
    inside.fetch_sub(1);
    return PressureOutcome::done();
  });
  std::vector<std::thread> threads;
  const std::size_t each = test::scaled(4000);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (std::size_t k = 0; k < each; ++k) {
        const Allocation block = test.device.allocate(kBlock);
        const std::scoped_lock lock(mutex);
        garbage.push_back(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most.load(), 1);
  EXPECT_EQ(test.pressure().failed, 0U) << "no false out of memory";
  EXPECT_GT(calls.load(), 0U);
  EXPECT_TRUE(test.consistent());
}

// Checklist 3: the wait is bounded, and the error names who held everything up.
TEST(WaitingThreads, TheErrorNamesTheHolder) {
  const test::Watchdog watchdog;
  TestDevice test(4 * kBlock, test::undamped());
  HeldLadder ladder(test);
  std::thread leader([&] { EXPECT_THROW(test.device.allocate(kBlock), OutOfDeviceMemory); });
  ladder.wait_until_inside();
  try {
    test.device.allocate({.bytes = kBlock, .budget = milliseconds(30)});
    FAIL();
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_EQ(error.report().given_up, GivenUp::kOutOfTime);
    EXPECT_EQ(error.report().holder_responder, "held");
    EXPECT_NE(error.report().holder_thread, 0U);
    EXPECT_GE(error.report().waited_ns, 30'000'000U);
  }
  ladder.let_go();
  leader.join();
}

// Frees never wait: not for the mutex, not for a responder. The free is complete when the mutex is
// given up.
TEST(WaitingThreads, FreesDoNotWaitForTheMutex) {
  const test::Watchdog watchdog;
  TestDevice test(16 * kBlock);
  std::vector<Allocation> blocks;
  for (int i = 0; i < 16; ++i) blocks.push_back(test.device.allocate(kBlock));
  auto& core = detail::DeviceAccess::core(test.device);
  std::latch held(1);
  std::atomic<bool> freed{false};
  std::thread holder([&] {
    const detail::DeviceCore::Locked lock(core);
    held.count_down();
    const auto end = Clock::now() + seconds(1);
    while (Clock::now() < end || !freed.load()) std::this_thread::yield();
  });
  held.wait();
  std::uint64_t longest_ns = 0;
  for (const Allocation block : blocks) {
    const auto before = Clock::now();
    test.device.free(block);
    longest_ns = std::max(longest_ns, static_cast<std::uint64_t>((Clock::now() - before) /
                                                                 std::chrono::nanoseconds(1)));
  }
  EXPECT_THROW(test.device.free(blocks[0]), StaleAllocation) << "found without the mutex";
  freed.store(true);
  holder.join();
  RecordProperty("longest_free_ns", std::to_string(longest_ns));
  EXPECT_EQ(test.usage().current_bytes, 0U);
  EXPECT_EQ(test.device.statistics().deferred_frees, 16U);
  EXPECT_TRUE(test.consistent());
}

// A finalizer allocates while the leader waits for the collection that runs it: neither waits for
// the other.
TEST(WaitingThreads, WhoIsWaitedForWaitsForNobody) {
  const test::Watchdog watchdog;
  const FakeLanguage language;
  TestDevice test(4 * kBlock, test::undamped());
  HeldLadder ladder(test);
  std::thread leader([&] { EXPECT_TRUE(test.device.allocate(kBlock)); });
  ladder.wait_until_inside();
  FakeLanguage::collecting = true;
  try {
    test.device.allocate(kBlock);
    ADD_FAILURE() << "there is no room";
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_EQ(error.report().given_up, GivenUp::kNested);
  }
  FakeLanguage::collecting = false;
  ladder.free_one();
  ladder.let_go();
  leader.join();
  EXPECT_EQ(ladder.calls.load(), 1);
}

// The rule of section 1.4 of the contract: nobody waits for the device while it is attached, so a
// responder may attach.
TEST(WaitingThreads, NobodyWaitsAttached) {
  const test::Watchdog watchdog;
  FakeLanguage language;
  TestDevice test(8 * kBlock);
  std::vector<Allocation> garbage;  // guarded by the language's lock
  const auto token = test.device.add_responder([&](const PressureInfo&) {
    EXPECT_FALSE(FakeLanguage::attached());
    language.enter();
    std::vector<Allocation> dropped;
    dropped.swap(garbage);
    // As from finalizers: attached.
    for (const Allocation block : dropped) test.device.free(block);
    language.leave();
    return PressureOutcome::done();
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (std::size_t k = 0; k < test::scaled(2000); ++k) {
        language.enter();
        const Allocation block = test.device.allocate(kBlock);
        EXPECT_TRUE(FakeLanguage::attached());
        garbage.push_back(block);
        language.leave();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(test.pressure().failed, 0U);
}

// Checklist 25.
TEST(WaitingThreads, ASignalEndsTheWait) {
  const test::Watchdog watchdog;
  FakeLanguage language;
  TestDevice test(4 * kBlock, test::undamped());
  HeldLadder ladder(test);
  std::thread leader([&] { EXPECT_THROW(test.device.allocate(kBlock), OutOfDeviceMemory); });
  ladder.wait_until_inside();
  language.signal.store(true);
  language.enter();
  try {
    test.device.allocate(kBlock);
    ADD_FAILURE() << "did not fail";
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_EQ(error.report().given_up, GivenUp::kInterrupted);
  }
  language.leave();
  ladder.let_go();
  leader.join();
}

TEST(WaitingThreads, AnInterleavedRequestWaitsInTheDomainThatLacksRoom) {
  const test::Watchdog watchdog;
  TestDevice test(TestDevice::of_size(4 * kBlock, 2));
  std::vector<Allocation> blocks;
  for (DomainId domain = 0; domain < 2; ++domain) {
    while (const auto block =
               test.device.try_allocate({.bytes = kBlock, .placement = Placement::bind(domain)})) {
      blocks.push_back(*block);
    }
  }
  // Each domain's ladder frees a block of its own.
  const auto token = test.device.add_responder([&](const PressureInfo& info) {
    test.device.free(blocks[info.domain * 4]);
    return PressureOutcome::useless();
  });
  const Allocation wide =
      test.device.allocate({.bytes = 2 * kBlock, .placement = Placement::interleave(0b11)});
  EXPECT_EQ(test.device.describe(wide).chunks.size(), 2U);
  EXPECT_EQ(test.pressure(0).windows, 1U);
  EXPECT_EQ(test.pressure(1).windows, 1U);
  EXPECT_TRUE(test.consistent());
}

// Checklist 20.
TEST(RegistrationThreads, EndingWaitsForCallsInOtherThreads) {
  const test::Watchdog watchdog;
  TestDevice test(4 * kBlock, test::undamped());
  HeldLadder full(test);
  full.let_go();
  std::atomic<bool> inside{false};
  std::atomic<bool> left{false};
  auto token = test.device.add_responder(
      [&](const PressureInfo&) {
        inside.store(true);
        inside.notify_all();
        std::this_thread::sleep_for(milliseconds(20));
        left.store(true);
        return PressureOutcome::done();
      },
      {.priority = 1});
  std::thread caller([&] { EXPECT_THROW(test.device.allocate(kBlock), OutOfDeviceMemory); });
  inside.wait(false);
  token.reset();
  EXPECT_TRUE(left.load());
  caller.join();
  EXPECT_EQ(test.device.responder_statistics().size(), 1U);
}

TEST(Registration, EndsAndBeginsInsideACall) {
  TestDevice test(4 * kBlock, test::undamped());
  HeldLadder full(test);
  full.let_go();
  int calls = 0;
  Registration own;
  Registration added;
  own = test.device.add_responder([&](const PressureInfo&) {
    ++calls;
    own.reset();
    added = test.device.add_responder([&](const PressureInfo&) {
      ++calls;
      return PressureOutcome::useless();
    });
    return PressureOutcome::done();
  });
  EXPECT_THROW(test.device.allocate(kBlock), OutOfDeviceMemory);
  EXPECT_EQ(calls, 1) << "the list is that of the beginning of the pass";
  EXPECT_THROW(test.device.allocate(kBlock), OutOfDeviceMemory);
  EXPECT_EQ(calls, 2);
}

TEST(Registration, MayOutliveTheDevice) {
  Registration token;
  {
    TestDevice test(kMiB);
    token = test.device.add_responder([](const PressureInfo&) { return PressureOutcome::done(); });
  }
  token.reset();
}

TEST(RegistrationThreads, ComeAndGoUnderPressure) {
  const test::Watchdog watchdog;
  TestDevice test(8 * kBlock, test::undamped());
  std::mutex mutex;
  std::vector<Allocation> garbage;
  const auto collect = [&](const PressureInfo&) {
    std::vector<Allocation> dropped;
    {
      const std::scoped_lock lock(mutex);
      dropped.swap(garbage);
    }
    for (const Allocation block : dropped) test.device.free(block);
    return PressureOutcome::done();
  };
  const auto steady = test.device.add_responder(collect);
  std::atomic<bool> done{false};
  std::thread registrar([&] {
    while (!done.load()) {
      const auto token = test.device.add_responder(collect, {.priority = -1});
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (std::size_t k = 0; k < test::scaled(3000); ++k) {
        const Allocation block = test.device.allocate(kBlock);
        const std::scoped_lock lock(mutex);
        garbage.push_back(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done.store(true);
  registrar.join();
  EXPECT_EQ(test.pressure().failed, 0U);
}

}  // namespace
}  // namespace fallow::device
