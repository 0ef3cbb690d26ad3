// A heap as a responder of a device: young first, then all, on a thread of its own.
#include "fallow/heap_responder.h"

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include "fallow/device.h"
#include "fallow/host_backend.h"
#include "fallow/major_pause.h"
#include "fallow/no_gc.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using namespace std::chrono_literals;

PressureInfo asked(unsigned attempt, PressureLevel level = PressureLevel::kHard) {
  return {.bytes_wanted = kMiB,
          .level = level,
          .attempt = attempt,
          .deadline = device::Clock::now() + 1h};
}

HeapStatistics after(Heap& heap, PressureResponder& responder, const PressureInfo& info) {
  responder.respond(info);
  return heap.statistics();
}

TEST(HeapResponderThreads, CollectsTheYoungFirst) {
  const Watchdog watchdog;
  Heap heap;
  const auto responder = make_heap_responder(heap);
  HeapStatistics now = after(heap, *responder, asked(0));
  EXPECT_EQ(now.minor_collections, 1U);
  EXPECT_EQ(now.full_collections, 0U);
  EXPECT_EQ(after(heap, *responder, asked(1)).full_collections, 1U);
  EXPECT_EQ(after(heap, *responder, asked(1, PressureLevel::kSoft)).full_collections, 1U);
  EXPECT_TRUE(responder->respond(asked(0)).more_now);
  EXPECT_FALSE(responder->respond(asked(0, PressureLevel::kSoft)).more_now);
}

TEST(HeapResponderThreads, StopsWhenNothingComesBack) {
  const Watchdog watchdog;
  Heap heap;
  std::atomic<std::uint64_t> freed{0};
  const auto responder = make_heap_responder(heap, {.freed_bytes = [&] { return freed.load(); }});
  EXPECT_FALSE(responder->respond(asked(0)).retry_is_useless);
  EXPECT_TRUE(responder->respond(asked(1)).retry_is_useless);
}

TEST(HeapResponderThreads, HonoursAMajorPauseIfToldTo) {
  const Watchdog watchdog;
  Heap heap;
  const auto strict = make_heap_responder(heap, {.in_major_pause = false});
  const auto lax = make_heap_responder(heap);
  const MajorPause pause(heap);
  EXPECT_EQ(strict->respond(asked(0)).skipped, SkipReason::kNone);
  EXPECT_EQ(strict->respond(asked(1)).skipped, SkipReason::kDisabled);
  EXPECT_EQ(heap.statistics().full_collections, 0U);
  EXPECT_EQ(lax->respond(asked(1)).skipped, SkipReason::kNone);
  EXPECT_EQ(heap.statistics().full_collections, 1U);
}

TEST(HeapResponderThreads, DoesNotWaitForANoGcScopeBeyondItsPatience) {
  const Watchdog watchdog;
  Heap heap;
  const auto responder = make_heap_responder(heap, {.patience = 1ms});
  std::latch inside(1);
  std::latch leave(1);
  std::thread other([&] {
    Mutator mutator(heap, "other");
    {
      const NoGc scope(mutator, kKiB, 1h);
      inside.count_down();
      leave.wait();
    }
    const Parked parked(mutator);
    while (heap.statistics().minor_collections == 0) std::this_thread::yield();
  });
  inside.wait();
  EXPECT_EQ(responder->respond(asked(0)).skipped, SkipReason::kBusy);
  EXPECT_FALSE(responder->wait_while_busy(0, device::Clock::now() + 1h));
  EXPECT_EQ(heap.statistics().minor_collections, 0U);
  leave.count_down();
  other.join();
  while (!responder->wait_while_busy(0, device::Clock::now() + 1h)) {
  }
  EXPECT_EQ(heap.statistics().minor_collections, 1U);
}

/// An object whose death gives a block back, as far as this test goes: at the first full
/// collection.
struct BlockOwner : EventListener {
  explicit BlockOwner(device::Device& of) : device(of), block(of.allocate(kMiB)) {}
  void on_full(const FullEvent&) override {
    collector = std::this_thread::get_id();
    device.free(block);
    freed.store(kMiB);
  }
  device::Device& device;
  device::Allocation block;
  std::thread::id collector;
  std::atomic<std::uint64_t> freed{0};
};

TEST(HeapResponderThreads, ServesADeviceWhoseThreadHasAMutator) {
  const Watchdog watchdog;
  device::Device device(std::make_shared<device::HostBackend>(
      device::HostBackendOptions{.domains = {{"0", kMiB, {}}}, .bytes = device::HostBytes::kNone}));
  Heap heap;
  BlockOwner owner(device);
  heap.add_listener(owner);
  const auto responder =
      make_heap_responder(heap, {.freed_bytes = [&owner] { return owner.freed.load(); }});
  const auto token = device.add_responder(responder, {.name = "heap"});
  Mutator mutator(heap, "main");
  {
    const Parked parked(mutator);
    EXPECT_TRUE(device.allocate(kMiB));
  }
  EXPECT_NE(owner.collector, std::this_thread::get_id());
  const ResponderStatistics statistics = device.responder_statistics()[0];
  EXPECT_EQ(statistics.calls, 2U);
  EXPECT_EQ(statistics.bytes, kMiB);
  heap.remove_listener(owner);
}

}  // namespace
}  // namespace fallow::test
