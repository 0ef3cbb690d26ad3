// The reclaim ladder on one thread: the order of the rungs, who is called and how often, and what
// the error tells.
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fallow/pressure_callback.h"
#include "tests/device/hoard.h"
#include "tests/device/test_support.h"

namespace fallow::device {
namespace {

using std::chrono::milliseconds;
using test::Hoard;
using test::kKiB;
using test::kMiB;
using test::report_of;
using test::TestDevice;
using test::undamped;

// Known failure 3: the callback ran on nearly every allocation.
TEST(Ladder, CallsNobodyWhileThePoolCanGrow) {
  DeviceOptions options;
  options.region_bytes = {16 * kKiB};
  TestDevice test(kMiB, options);
  int calls = 0;
  const auto token = test.device.add_responder([&](const PressureInfo&) {
    ++calls;
    return PressureOutcome::done();
  });
  Hoard hoard(test.device);
  for (int i = 0; i < 64; ++i) test.device.allocate(16 * kKiB);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(test.pressure().windows, 0U);
  EXPECT_THROW(test.device.allocate(16 * kKiB), OutOfDeviceMemory);
  EXPECT_EQ(calls, 1);
}

TEST(Ladder, StopsAsSoonAsTheRequestFits) {
  TestDevice test(kMiB);
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  std::string order;
  const auto add = [&](char name, CostClass cost, int priority, std::size_t drops) {
    return test.device.add_responder(
        [&order, &hoard, name, drops](const PressureInfo&) {
          order += name;
          hoard.drop(drops);
          return PressureOutcome::useless();
        },
        {.name = std::string(1, name), .cost = cost, .priority = priority});
  };
  const auto spill = add('s', CostClass::kSpill, 0, 16);
  const auto late = add('l', CostClass::kNative, 5, 1);
  const auto script = add('p', CostClass::kScript, 0, 1);
  const auto early = add('e', CostClass::kNative, -5, 0);
  const auto equal = add('f', CostClass::kNative, -5, 0);
  const auto cache = add('c', CostClass::kCache, 9, 0);
  test.device.allocate(64 * kKiB);
  EXPECT_EQ(order, "cefl") << "by cost, priority and registration";
  // The pool is searched after each: two blocks are needed, and come from two.
  order.clear();
  test.device.allocate(128 * kKiB);
  EXPECT_EQ(order, "ceflp");
  const auto statistics = test.device.responder_statistics();
  ASSERT_EQ(statistics.size(), 6U);
  EXPECT_EQ(statistics[0].name, "c");
  EXPECT_EQ(statistics[3].bytes, 2 * 64 * kKiB);
  EXPECT_EQ(statistics[4].bytes, 64 * kKiB);
  EXPECT_EQ(statistics[5].calls, 0U);
  EXPECT_EQ(test.pressure().windows, 2U);
  EXPECT_EQ(test.pressure().reclaimed_bytes, 3 * 64 * kKiB);
}

// Checklist 9 and 10: bytes decide, not claims; again while something comes back, within bounds.
TEST(Ladder, RepeatsWhileBytesAreFreed) {
  TestDevice test(kMiB, undamped());
  Hoard hoard(test.device);
  hoard.fill(32 * kKiB);
  std::vector<std::pair<unsigned, unsigned>> calls;
  const auto token = test.device.add_responder([&](const PressureInfo& info) {
    calls.emplace_back(info.round, info.attempt);
    hoard.drop(1);
    return PressureOutcome::done();
  });
  test.device.allocate(4 * 32 * kKiB);
  const std::vector<std::pair<unsigned, unsigned>> expected = {{0, 0}, {0, 1}, {0, 2}, {1, 0}};
  EXPECT_EQ(calls, expected);
  // Nothing comes back: once.
  calls.clear();
  hoard.drop(0);
  const auto silent = test.device.add_responder(
      [](const PressureInfo&) { return PressureOutcome::done(); }, {.name = "silent"});
  const OutOfMemoryReport report = report_of(test.device, {.bytes = kMiB});
  EXPECT_EQ(report.rounds, test.device.options().max_rounds);
  EXPECT_EQ(calls.size(),
            std::size_t{test.device.options().max_rounds} * test.device.options().max_attempts);
  EXPECT_EQ(report.responders[1].calls, test.device.options().max_rounds);
}

TEST(Ladder, TellsWhatIsNeeded) {
  DeviceOptions options = undamped();
  options.pressure_budget = std::chrono::seconds(7);
  TestDevice test(TestDevice::of_size(kMiB, 2), options);
  const Allocation full =
      test.device.allocate({.bytes = kMiB - 256, .placement = Placement::bind(1)});
  std::optional<PressureInfo> seen;
  const auto token = test.device.add_responder([&](const PressureInfo& info) {
    seen = info;
    test.device.free(full);
    return PressureOutcome::done();
  });
  const auto before = Clock::now();
  test.device.allocate({.bytes = 1000, .alignment = 512, .placement = Placement::bind(1)});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->bytes_wanted, 1024U);
  EXPECT_EQ(seen->alignment, 512U);
  EXPECT_EQ(seen->domain, 1U);
  EXPECT_EQ(seen->type, MemoryType::kTensor);
  EXPECT_EQ(seen->level, PressureLevel::kHard);
  EXPECT_EQ(seen->free_bytes, 256U);
  EXPECT_EQ(seen->largest_free, 256U);
  EXPECT_EQ(seen->depth, 0U);
  EXPECT_GE(seen->deadline, before + std::chrono::seconds(7));
}

// Checklist 26.
TEST(Ladder, SurvivesWhatRespondersThrow) {
  TestDevice test(kMiB, undamped());
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  const auto throwing = test.device.add_responder(
      [](const PressureInfo&) -> PressureOutcome { throw std::runtime_error("broken"); },
      {.name = "throwing", .priority = 0});
  const auto odd = test.device.add_responder(
      [](const PressureInfo&) -> PressureOutcome { throw 42; }, {.name = "odd", .priority = 1});
  const auto helpful = test.device.add_responder(
      [&](const PressureInfo&) {
        hoard.drop(1);
        return PressureOutcome::done();
      },
      {.name = "helpful", .priority = 2});
  EXPECT_TRUE(test.device.allocate(64 * kKiB));
  const auto statistics = test.device.responder_statistics();
  EXPECT_EQ(statistics[0].failures, 1U);
  EXPECT_EQ(statistics[0].last_failure, "broken");
  EXPECT_EQ(statistics[1].failures, 1U);
  EXPECT_EQ(statistics[2].failures, 0U);
}

// Known failure 6, and 18's missing capacity: the facts are in the error.
TEST(Ladder, TheErrorTellsTheFacts) {
  TestDevice test(kMiB, undamped());
  std::vector<Allocation> blocks;
  for (int i = 0; i < 16; ++i) blocks.push_back(test.device.allocate(64 * kKiB));
  for (int i = 0; i < 16; i += 2) test.device.free(blocks[static_cast<std::size_t>(i)]);
  const auto frozen = test.device.add_responder(
      [](const PressureInfo&) {
        PressureOutcome outcome = PressureOutcome::skip(SkipReason::kDisabled);
        outcome.frozen_objects = 17;
        return outcome;
      },
      {.name = "collector"});
  const AllocationRequest request{.bytes = 100 * kKiB};
  const OutOfMemoryReport report = report_of(test.device, request);
  EXPECT_EQ(report.request.bytes, 100 * kKiB);
  EXPECT_EQ(report.given_up, GivenUp::kNothingLeft);
  EXPECT_EQ(report.capacity_bytes, kMiB);
  EXPECT_EQ(report.reserved_bytes, kMiB);
  EXPECT_EQ(report.free_bytes, 512 * kKiB);
  EXPECT_EQ(report.largest_free, 64 * kKiB);
  EXPECT_DOUBLE_EQ(report.fragmentation, 1 - 1.0 / 8);
  ASSERT_EQ(report.responders.size(), 1U);
  EXPECT_EQ(report.responders[0].skipped, SkipReason::kDisabled);
  try {
    test.device.allocate(request);
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const char* const part :
         {"100 KiB of tensor memory requested", "512 KiB free of 1 MiB",
          "largest free block 64 KiB", "fragmentation 88 %", "capacity 1 MiB",
          "collector gave 0 bytes in 1 call, disabled", "frozen objects: 17"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
    }
  }
  EXPECT_EQ(
      test.device.responder_statistics()[0].skips[static_cast<std::size_t>(SkipReason::kDisabled)],
      2U);
}

// Young garbage first, then all: a responder that has found nothing may ask to go on.
TEST(Ladder, AResponderThatHasMoreIsAskedAgain) {
  TestDevice test(kMiB, undamped());
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  std::vector<unsigned> attempts;
  const auto token = test.device.add_responder([&](const PressureInfo& info) {
    attempts.push_back(info.attempt);
    if (info.attempt == 1) hoard.drop(1);
    return PressureOutcome{.more_now = info.attempt == 0};
  });
  EXPECT_TRUE(test.device.allocate(64 * kKiB));
  EXPECT_EQ(attempts, (std::vector<unsigned>{0, 1}));
}

TEST(Ladder, TheBudgetEndsIt) {
  TestDevice test(kMiB, undamped());
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  int late_calls = 0;
  const auto slow = test.device.add_responder(
      [&](const PressureInfo& info) {
        while (Clock::now() < info.deadline) {
        }
        return PressureOutcome::done();
      },
      {.name = "slow", .priority = 0});
  const auto late = test.device.add_responder(
      [&](const PressureInfo&) {
        ++late_calls;
        return PressureOutcome::done();
      },
      {.name = "late", .priority = 1});
  const OutOfMemoryReport report =
      report_of(test.device, {.bytes = 64 * kKiB, .budget = milliseconds(5)});
  EXPECT_EQ(report.given_up, GivenUp::kOutOfTime);
  EXPECT_EQ(late_calls, 0);
  ASSERT_EQ(report.responders.size(), 2U);
  EXPECT_EQ(report.responders[1].skipped, SkipReason::kOutOfTime);
}

TEST(Ladder, TheLastLevelIsForThoseWhoAsk) {
  TestDevice test(kMiB, undamped());
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  std::vector<PressureLevel> levels;
  const auto token = test.device.add_responder([&](const PressureInfo& info) {
    levels.push_back(info.level);
    if (info.level == PressureLevel::kLast) hoard.drop(1);
    return PressureOutcome{.more_at_last = true};
  });
  EXPECT_TRUE(test.device.allocate(64 * kKiB));
  EXPECT_EQ(levels, (std::vector<PressureLevel>{PressureLevel::kHard, PressureLevel::kLast}));
}

/// Says that it is busy, more often than anybody would be called in vain, and then gives a block.
class Busy : public PressureResponder {
 public:
  explicit Busy(Hoard& hoard) : hoard_(hoard) {}
  PressureOutcome respond(const PressureInfo& info) override {
    EXPECT_EQ(info.attempt, 0U) << "to be busy is no attempt";
    return PressureOutcome::busy(7);
  }
  bool wait_while_busy(std::uint64_t epoch, Clock::time_point) override {
    EXPECT_EQ(epoch, 7U);
    if (++waits == kWaits) hoard_.drop(1);
    return true;
  }
  static constexpr int kWaits = 12;
  int waits = 0;

 private:
  Hoard& hoard_;
};

TEST(Ladder, WaitsForABusyResponder) {
  TestDevice test(kMiB);
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  const auto busy = std::make_shared<Busy>(hoard);
  const auto token = test.device.add_responder(busy, {.name = "busy"});
  EXPECT_TRUE(test.device.allocate(64 * kKiB));
  EXPECT_EQ(busy->waits, Busy::kWaits);
  const auto statistics = test.device.responder_statistics();
  EXPECT_EQ(statistics[0].skips[static_cast<std::size_t>(SkipReason::kBusy)], Busy::kWaits);
  EXPECT_EQ(statistics[0].bytes, 64 * kKiB);
}

// Checklist 2 and 8: a responder allocates and frees on the same device.
TEST(Ladder, RespondersMayUseTheDevice) {
  TestDevice test(kMiB, undamped());
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  int calls = 0;
  std::optional<GivenUp> nested;
  const auto token = test.device.add_responder([&](const PressureInfo&) {
    ++calls;
    nested = report_of(test.device, {.bytes = 64 * kKiB}).given_up;
    hoard.drop(2);
    const Allocation scratch = test.device.allocate(64 * kKiB);
    test.device.free(scratch);
    return PressureOutcome::useless();
  });
  EXPECT_TRUE(test.device.allocate(128 * kKiB));
  EXPECT_EQ(calls, 1) << "no ladder inside a ladder";
  EXPECT_EQ(nested, GivenUp::kNested);
  EXPECT_TRUE(test.consistent());
}

TEST(Ladder, EmptyRegionsOfTheOtherTypeGiveWay) {
  DeviceOptions options;
  options.region_bytes = {64 * kKiB};
  TestDevice test(128 * kKiB, options);
  const Allocation one = test.device.allocate({.bytes = 1, .type = MemoryType::kProgram});
  const Allocation two = test.device.allocate({.bytes = 64 * kKiB, .type = MemoryType::kProgram});
  test.device.free(one);
  test.device.free(two);
  EXPECT_EQ(test.usage(0, MemoryType::kProgram).regions, 2U);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(test.device.allocate(64 * kKiB));
  EXPECT_EQ(test.usage(0, MemoryType::kProgram).regions, 0U);
  EXPECT_EQ(test.pressure().regions_released, 2U);
}

TEST(Ladder, WatermarksReclaimBeforeFailure) {
  DeviceOptions options;
  options.soft_watermark = 0.5;
  options.hard_watermark = 0.75;
  options.watermark_share = 1;
  TestDevice test(kMiB, options);
  Hoard hoard(test.device);
  std::vector<PressureInfo> calls;
  const auto token = test.device.add_responder([&](const PressureInfo& info) {
    calls.push_back(info);
    return PressureOutcome::done();
  });
  for (int i = 0; i < 8; ++i) test.device.allocate(64 * kKiB);
  EXPECT_TRUE(calls.empty());
  test.device.allocate(64 * kKiB);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].level, PressureLevel::kSoft);
  EXPECT_EQ(calls[0].bytes_wanted, 64 * kKiB);
  test.device.allocate(kKiB);
  EXPECT_EQ(calls.size(), 1U) << "not at every allocation";
  for (int i = 0; i < 5; ++i) test.device.allocate(64 * kKiB);
  // Only so often that the calls do not take more than their share of the time.
  while (calls.back().level != PressureLevel::kHard) {
    test.device.free(test.device.allocate(64 * kKiB));
  }
  EXPECT_EQ(test.pressure().windows, 0U);
  EXPECT_EQ(test.pressure().watermark_passes, calls.size());
}

TEST(Ladder, ObserversAreTold) {
  struct Observer : PressureObserver {
    explicit Observer(Device& device) : device_(device) {}
    void on_responder(const ResponderEvent& event) override {
      text += std::string(event.responder) + (event.failed ? "! " : " ");
    }
    void on_window(const PressureWindowEvent& event) override {
      text += event.satisfied ? "satisfied " : "failed ";
    }
    void on_out_of_memory(const OutOfMemoryReport&) override {
      text += "out ";
      // No endless chain: observers are not told of this.
      EXPECT_THROW(device_.allocate(device_.backend().domains()[0].capacity_bytes),
                   OutOfDeviceMemory);
      throw std::runtime_error("dropped");
    }
    std::string text;

   private:
    Device& device_;
  };
  TestDevice test(kMiB, undamped());
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  const auto observer = std::make_shared<Observer>(test.device);
  auto observing = test.device.add_observer(observer);
  const auto bad = test.device.add_responder(
      [](const PressureInfo&) -> PressureOutcome { throw std::runtime_error(""); },
      {.name = "bad", .priority = 0});
  const auto good = test.device.add_responder(
      [&](const PressureInfo&) {
        hoard.drop(1);
        return PressureOutcome::useless();
      },
      {.name = "good", .priority = 1});
  test.device.allocate(64 * kKiB);
  EXPECT_EQ(observer->text, "bad! good satisfied ");
  observer->text.clear();
  hoard.drop(SIZE_MAX);
  EXPECT_THROW(test.device.allocate(kMiB), OutOfDeviceMemory);
  EXPECT_EQ(observer->text, "bad! good failed out ");
  observing.reset();
  EXPECT_THROW(test.device.allocate(kMiB), OutOfDeviceMemory);
  EXPECT_EQ(observer->text, "bad! good failed out ");
}

// Known failure 7: an error that is held keeps no device memory.
TEST(Ladder, AnErrorThatIsKeptHoldsNothing) {
  TestDevice test(kMiB, undamped());
  Hoard hoard(test.device);
  hoard.fill(kMiB);
  std::optional<OutOfDeviceMemory> kept;
  try {
    test.device.allocate(kMiB);
  } catch (const OutOfDeviceMemory& error) {
    kept = error;
  }
  hoard.drop(1);
  EXPECT_TRUE(test.device.allocate(kMiB));
  EXPECT_EQ(kept->report().free_bytes, 0U);
}

TEST(PressureCallback, KeepsTheOriginalForm) {
  TestDevice test(kMiB, undamped());
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  const auto token =
      test.device.add_responder(make_callback_responder([&](std::unique_lock<std::mutex>& lock) {
        EXPECT_TRUE(lock.owns_lock());
        lock.unlock();
        hoard.drop(1);
        lock.lock();
      }));
  EXPECT_TRUE(test.device.allocate(64 * kKiB));
  EXPECT_EQ(test.device.responder_statistics()[0].failures, 0U);
}

TEST(PressureCallback, ChecksTheContract) {
  TestDevice test(kMiB, undamped());
  Hoard hoard(test.device);
  hoard.fill(64 * kKiB);
  const auto failure_of = [&](PressureCallback callback) {
    const auto token = test.device.add_responder(make_callback_responder(std::move(callback)));
    EXPECT_THROW(test.device.allocate(kMiB), OutOfDeviceMemory);
    return test.device.responder_statistics()[0].last_failure;
  };
  EXPECT_EQ(failure_of([](std::unique_lock<std::mutex>& lock) { lock.unlock(); }),
            "the pressure callback returned without having locked again");
  EXPECT_EQ(failure_of([](std::unique_lock<std::mutex>& lock) { lock.release()->unlock(); }),
            "the pressure callback returned without the mutex that it was given");
  EXPECT_EQ(failure_of([&](std::unique_lock<std::mutex>&) { hoard.drop(1); }),
            "the pressure callback used the device while it held the lock");
  EXPECT_EQ(failure_of([](std::unique_lock<std::mutex>& lock) {
              lock.unlock();
              throw std::runtime_error("no GIL");
            }),
            "no GIL");
  EXPECT_EQ(failure_of([](std::unique_lock<std::mutex>&) {}), "");
}

}  // namespace
}  // namespace fallow::device
