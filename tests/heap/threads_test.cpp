// Several threads in one heap: attaching, leaving, sharing objects, cursors, globals.
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

template <class Body>
void in_threads(int count, Body&& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, EachBuildsItsOwnStructures) {
  const Watchdog watchdog;
  for_each_nursery_size([](std::size_t nursery) {
    Heap heap(with_nursery(nursery));
    in_threads(3, [&](int) {
      Mutator mutator(heap);
      Local<Node> list(mutator);
      for (std::size_t round = 0; round < scaled(30) + 2; ++round) {
        list = make_list(mutator, 500);
        const Local<Node> tree(mutator, make_tree(mutator, 7));
        ASSERT_EQ(check_list(list), 500U);
        ASSERT_TRUE(check_tree(tree, 7));
      }
    });
    heap.collect();
    EXPECT_EQ(expect_sound(heap).objects, 0U);
    EXPECT_EQ(heap.statistics().mutators, 0U);
  });
}

TEST(Threads, AttachAndLeaveDuringForcedCollections) {
  const Watchdog watchdog(250);
  Heap heap(with_nursery(64 * kKiB));
  std::atomic<bool> done{false};
  std::thread collecting([&] {
    for (int i = 0; !done.load(); ++i) i % 20 == 0 ? heap.collect() : heap.collect_minor();
  });
  in_threads(3, [&](int number) {
    for (std::size_t i = 0; i < scaled(1500); ++i) {
      // Some end while they hold a thread of their own, some come and go in this one.
      const auto work = [&] {
        Mutator mutator(heap);
        const Local<Node> list(mutator, make_list(mutator, 30));
        mutator.poll();
        ASSERT_EQ(check_list(list), 30U);
      };
      if (number == 0) {
        std::thread(work).join();
      } else {
        work();
      }
    }
  });
  done.store(true);
  collecting.join();
  heap.collect();
  EXPECT_EQ(expect_sound(heap).objects, 0U);
}

TEST(Threads, StoresOfThreadsThatHaveLeftAreRemembered) {
  const Watchdog watchdog;
  TestHeap test(with_nursery(1 * kMiB));
  Local<Array<Node>> small(test.mutator, make_array<Node>(test.mutator, 100));
  Local<Array<Node>> carded(test.mutator, make_array<Node>(test.mutator, 1000));
  Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
  Global<Node> global(test.heap);
  test.heap.collect_minor();
  for (std::uint64_t i = 0; i < 100; ++i) {
    // The heap's objects do not move while this thread is not parked; hand them over as they are.
    const Ref<Array<Node>> small_now = small;
    const Ref<Array<Node>> carded_now = carded;
    const Ref<Node> node_now = node;
    std::thread([&] {
      Mutator mutator(test.heap, "short");
      const Ref<Node> young = make<Node>(mutator, i);
      small_now->set(i % 100, young);
      carded_now->set(i * 7, young);
      node_now->left = young;
      global = young;
    }).join();
    test.heap.collect_minor();
    ASSERT_TRUE(small->get(i % 100)->intact(i));
    ASSERT_TRUE(carded->get(i * 7)->intact(i));
    ASSERT_TRUE(node->left->intact(i));
    ASSERT_TRUE(global->intact(i));
  }
  expect_sound(test.heap);
}

TEST(Threads, ShareObjectsThroughGlobals) {
  const Watchdog watchdog;
  Heap heap(with_nursery(64 * kKiB));
  // One slot per message; the flag passes the slot from the producer to the consumer and back.
  Global<Node> slot(heap);
  std::atomic<bool> full{false};
  const std::uint64_t messages = scaled(20'000);
  std::thread producer([&] {
    Mutator mutator(heap, "producer");
    for (std::uint64_t i = 0; i < messages; ++i) {
      Local<Node> message(mutator, make<Node>(mutator, i));
      message->left = make<Node>(mutator, i + 1);
      while (full.load(std::memory_order_acquire)) {
        mutator.poll();
        std::this_thread::yield();
      }
      slot = message;
      full.store(true, std::memory_order_release);
    }
  });
  std::thread consumer([&] {
    Mutator mutator(heap, "consumer");
    for (std::uint64_t i = 0; i < messages; ++i) {
      while (!full.load(std::memory_order_acquire)) {
        mutator.poll();
        std::this_thread::yield();
      }
      const Local<Node> message(mutator, slot.get());
      slot = nullptr;
      full.store(false, std::memory_order_release);
      make<Node>(mutator, i);
      ASSERT_TRUE(message->intact(i));
      ASSERT_TRUE(message->left->intact(i + 1));
    }
  });
  producer.join();
  consumer.join();
  heap.collect();
  EXPECT_EQ(expect_sound(heap).objects, 0U);
}

TEST(Threads, StoreIntoTheSameOldObjects) {
  const Watchdog watchdog;
  Heap heap(with_nursery(64 * kKiB));
  Global<Array<Node>> shared(heap);
  Global<Array<Node>> cards(heap);
  {
    Mutator mutator(heap);
    shared = make_array<Node>(mutator, 64);
    cards = make_array<Node>(mutator, 512);
  }
  heap.collect_minor();
  // Each thread has its own items, but they share cache lines, cards and remembered arrays.
  in_threads(3, [&](int number) {
    Mutator mutator(heap);
    const auto first = static_cast<std::size_t>(number);
    for (std::uint64_t i = 0; i < scaled(40'000); ++i) {
      const Ref<Node> node = make<Node>(mutator, i);
      const std::size_t item = first + 3 * (i % 20);
      shared->set(item, node);
      cards->set(item + 120, node);
      if (i % 16 == 0) {
        ASSERT_TRUE(shared->get(item)->intact(i));
        ASSERT_TRUE(cards->get(item + 120)->intact(i));
      }
    }
  });
  expect_sound(heap);
}

TEST(Threads, OpenCursorsDuringCollectionsOfOthers) {
  const Watchdog watchdog;
  for_each_nursery_size([](std::size_t nursery) {
    Heap heap(with_nursery(nursery));
    std::atomic<bool> done{false};
    std::thread collecting([&] {
      while (!done.load()) heap.collect_minor();
    });
    in_threads(2, [&](int) {
      Mutator mutator(heap);
      for (std::size_t round = 0; round < scaled(20) + 1; ++round) {
        Local<Node> list(mutator);
        AllocationCursor cursor(mutator);
        for (std::uint64_t i = 0; i < 2000; ++i) {
          Ref<Node> head = list;
          const Ref<Node> node = cursor.make<Node>(live(head), i);
          node->right = head;
          list = node;
          if (i % 64 == 0) mutator.poll();
        }
        ASSERT_EQ(check_list(list), 2000U);
      }
    });
    done.store(true);
    collecting.join();
    expect_sound(heap);
  });
}

TEST(Threads, GlobalsOfThreadsWithoutAMutator) {
  const Watchdog watchdog;
  Heap heap(with_nursery(64 * kKiB));
  std::atomic<bool> done{false};
  std::thread collecting([&] {
    Mutator mutator(heap);
    while (!done.load()) {
      const Global<Node> global(heap, make<Node>(mutator, 7));
      heap.collect_minor();
      heap.collect();
      ASSERT_TRUE(global->intact(7));
    }
  });
  in_threads(2, [&](int) {
    for (std::size_t i = 0; i < scaled(200); ++i) {
      std::vector<std::unique_ptr<Global<Node>>> globals;
      for (int k = 0; k < 50; ++k) globals.push_back(std::make_unique<Global<Node>>(heap));
    }
  });
  done.store(true);
  collecting.join();
  EXPECT_EQ(expect_sound(heap).objects, 0U);
}

TEST(Threads, LargeObjectsFromSeveralThreads) {
  const Watchdog watchdog;
  Heap heap(with_nursery(64 * kKiB));
  in_threads(3, [&](int number) {
    Mutator mutator(heap);
    Local<Bytes> kept(mutator);
    for (std::size_t i = 0; i < scaled(400); ++i) {
      const std::size_t length = 9000 + i % 5 * 20'000;
      const Ref<Bytes> bytes = make_values<Bytes>(mutator, length);
      fill_pattern(*bytes, i);
      if (i % 3 == static_cast<std::size_t>(number)) kept = bytes;
      ASSERT_TRUE(has_pattern(*bytes, i));
    }
    ASSERT_GT(kept->length(), 0U);
  });
  heap.collect();
  EXPECT_EQ(expect_sound(heap).objects, 0U);
  EXPECT_EQ(heap.statistics().large_used, 0U);
}

TEST(Threads, VerifyAndStatisticsAtAnyTime) {
  const Watchdog watchdog;
  Heap heap(with_nursery(64 * kKiB));
  std::atomic<bool> done{false};
  std::thread observing([&] {
    while (!done.load()) {
      const HeapStatistics statistics = heap.statistics();
      ASSERT_GE(statistics.committed, statistics.nursery);
      ASSERT_EQ(complaints(heap.verify()), "");
    }
  });
  in_threads(2, [&](int) {
    Mutator mutator(heap);
    for (std::size_t i = 0; i < scaled(100); ++i) {
      const Local<Node> list(mutator, make_list(mutator, 1000));
      ASSERT_EQ(check_list(list), 1000U);
    }
  });
  done.store(true);
  observing.join();
}

}  // namespace
}  // namespace fallow::test
