// Stop requests: none is lost, however often they come and whatever the other threads are doing.
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "fallow/errors.h"
#include "fallow/events.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

/// Requests `count` minor collections back to back; each must be over when its call returns.
void request_collections(Heap& heap, std::size_t count, std::atomic<std::uint64_t>& completed) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t before = heap.statistics().minor_collections;
    heap.collect_minor();
    if (heap.statistics().minor_collections > before) completed.fetch_add(1);
  }
}

/// What the other thread does while one requests collections.
enum class Partner { kPolls, kAllocates, kParks, kAttaches, kCollects };

class ThreadsStop : public ::testing::TestWithParam<Partner> {
 protected:
  /// A fifth of the million requests each; the slow ones do less under sanitizers.
  static constexpr std::size_t kRequests = scaled(200'000);

  static void partner(Heap& heap, Partner what, const std::atomic<bool>& done,
                      std::atomic<std::uint64_t>& progress) {
    if (what == Partner::kAttaches) {
      for (std::uint64_t i = 0; !done.load(); ++i) {
        Mutator mutator(heap, "comes and goes");
        const Local<Node> node(mutator, make<Node>(mutator, i));
        mutator.poll();
        if (node->intact(i)) progress.fetch_add(1);
      }
      return;
    }
    Mutator mutator(heap, "partner");
    Local<Node> node(mutator, make<Node>(mutator, 42));
    while (!done.load()) {
      switch (what) {
        case Partner::kPolls:
          mutator.poll();
          break;
        case Partner::kAllocates:
          node->left = make<Node>(mutator, 43);
          break;
        case Partner::kParks: {
          const Parked parked(mutator);
          break;
        }
        default:
          heap.collect_minor();
      }
      if (node->intact(42)) progress.fetch_add(1);
    }
  }
};

TEST_P(ThreadsStop, BackToBackRequestsAreAllServed) {
  const Watchdog watchdog(250);
  Heap heap(with_nursery(64 * kKiB));
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> progress{0};
  std::atomic<std::uint64_t> completed{0};
  std::thread other([&] { partner(heap, GetParam(), done, progress); });
  while (progress.load() == 0) std::this_thread::yield();
  {
    Mutator mutator(heap, "requests");
    request_collections(heap, kRequests, completed);
  }
  done.store(true);
  other.join();
  EXPECT_EQ(completed.load(), kRequests);
  EXPECT_GE(heap.statistics().minor_collections, kRequests);
  EXPECT_GT(progress.load(), 0U);
  EXPECT_EQ(heap.statistics().stop_wall.count, heap.statistics().minor_wall.count);
  expect_sound(heap);
}

INSTANTIATE_TEST_SUITE_P(, ThreadsStop,
                         ::testing::Values(Partner::kPolls, Partner::kAllocates, Partner::kParks,
                                           Partner::kAttaches, Partner::kCollects),
                         [](const auto& parameter) {
                           switch (parameter.param) {
                             case Partner::kPolls:
                               return "PartnerPolls";
                             case Partner::kAllocates:
                               return "PartnerAllocates";
                             case Partner::kParks:
                               return "PartnerParks";
                             case Partner::kAttaches:
                               return "PartnerAttachesAndDetaches";
                             default:
                               return "PartnerCollects";
                           }
                         });

TEST(ThreadsStopSeveral, FourMutatorsRequestAtTheSameTime) {
  const Watchdog watchdog(250);
  Heap heap(with_nursery(64 * kKiB));
  std::atomic<std::uint64_t> completed{0};
  const std::size_t each = scaled(10'000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Mutator mutator(heap);
      const Local<Node> list(mutator, make_list(mutator, 20));
      request_collections(heap, each, completed);
      EXPECT_EQ(check_list(list), 20U);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(completed.load(), 4 * each);
  expect_sound(heap);
}

TEST(ThreadsStopSeveral, RequestsWithoutAMutatorOfTheirOwn) {
  const Watchdog watchdog(250);
  Heap heap(with_nursery(64 * kKiB));
  std::atomic<std::uint64_t> completed{0};
  std::atomic<bool> done{false};
  const std::size_t each = scaled(10'000);
  std::thread allocating([&] {
    Mutator mutator(heap);
    while (!done.load()) {
      const Local<Node> list(mutator, make_list(mutator, 50));
      EXPECT_EQ(check_list(list), 50U);
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] { request_collections(heap, each, completed); });
  }
  for (std::thread& thread : threads) thread.join();
  done.store(true);
  allocating.join();
  EXPECT_EQ(completed.load(), 2 * each);
}

TEST(ThreadsStopSeveral, FullAndMinorRequestsAlternate) {
  const Watchdog watchdog(250);
  Heap heap(with_nursery(32 * kKiB));
  std::atomic<bool> done{false};
  std::thread other([&] {
    Mutator mutator(heap);
    Local<Node> tree(mutator);
    while (!done.load()) {
      tree = make_tree(mutator, 8);
      EXPECT_TRUE(check_tree(tree, 8));
    }
  });
  {
    Mutator mutator(heap);
    const std::size_t rounds = scaled(1500);
    for (std::size_t i = 0; i < rounds; ++i) {
      const std::uint64_t before = heap.statistics().full_collections;
      heap.collect();
      EXPECT_GT(heap.statistics().full_collections, before);
      heap.collect_minor();
      if (i % 50 == 0) expect_sound(heap);
    }
  }
  done.store(true);
  other.join();
}

/// Waits for a report and remembers it.
struct StuckListener : EventListener {
  void on_stuck_mutator(const StuckMutatorEvent& event) override {
    if (reported.load()) return;
    name = std::string(event.mutator);
    thread_id = event.thread_id;
    waited_ns = event.waited_ns;
    reported.store(true);
  }
  std::atomic<bool> reported{false};
  std::string name;
  std::uint64_t thread_id = 0;
  std::uint64_t waited_ns = 0;
};

TEST(ThreadsStopSeveral, AMutatorThatDoesNotPollIsNamed) {
  const Watchdog watchdog;
  HeapOptions options = with_nursery(64 * kKiB);
  options.stop_warning_microseconds = 1000;
  Heap heap(options);
  StuckListener listener;
  heap.add_listener(listener);
  std::atomic<bool> running{false};
  std::thread stuck([&] {
    Mutator mutator(heap, "does not poll");
    const Local<Node> node(mutator, make<Node>(mutator, 1));
    running.store(true);
    // The only way out is the report.
    while (!listener.reported.load()) std::this_thread::yield();
    mutator.poll();
    EXPECT_TRUE(node->intact(1));
  });
  while (!running.load()) std::this_thread::yield();
  heap.collect_minor();
  stuck.join();
  EXPECT_EQ(listener.name, "does not poll");
  EXPECT_NE(listener.thread_id, 0U);
  EXPECT_GE(listener.waited_ns, 1'000'000U);
  EXPECT_GE(heap.statistics().stop_wall.max_ns, 1'000'000U);
  heap.remove_listener(listener);
}

TEST(ThreadsStopSeveral, ParkedMutatorsAreNotWaitedFor) {
  const Watchdog watchdog;
  HeapOptions options = with_nursery(64 * kKiB);
  options.stop_warning_microseconds = 1000;
  Heap heap(options);
  StuckListener listener;
  heap.add_listener(listener);
  std::atomic<bool> parked{false};
  std::atomic<bool> go_on{false};
  std::thread sleeper([&] {
    Mutator mutator(heap, "sleeper");
    const Local<Node> list(mutator, make_list(mutator, 100));
    {
      const Parked guard(mutator);
      parked.store(true);
      while (!go_on.load()) std::this_thread::yield();
    }
    EXPECT_EQ(check_list(list), 100U);
  });
  while (!parked.load()) std::this_thread::yield();
  for (int i = 0; i < 200; ++i) heap.collect();
  go_on.store(true);
  sleeper.join();
  EXPECT_FALSE(listener.reported.load());
  heap.remove_listener(listener);
}

TEST(ThreadsStopSeveral, AMutatorParksOnlyOnce) {
  TestHeap test;
  const Parked first(test.mutator);
  EXPECT_THROW(Parked second(test.mutator), UsageError);
}

TEST(ThreadsStopSeveral, APollingLoopIsStoppedAndGoesOn) {
  const Watchdog watchdog;
  Heap heap(with_nursery(64 * kKiB));
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> sum{0};
  std::thread computing([&] {
    Mutator mutator(heap);
    std::uint64_t value = 0;
    while (!done.load()) {
      for (int i = 0; i < 100; ++i) value = scramble(value);
      mutator.poll();
    }
    sum.store(value);
  });
  for (int i = 0; i < 300; ++i) heap.collect_minor();
  done.store(true);
  computing.join();
  EXPECT_NE(sum.load(), 1U);
  EXPECT_EQ(heap.statistics().minor_collections, 300U);
}

}  // namespace
}  // namespace fallow::test
