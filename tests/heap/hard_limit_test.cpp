// The hard limit: allocations fail with the facts, again and again, and the heap stays usable.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fallow/errors.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

struct Enormous : Object {
  char bytes[64 * kMiB];
  using Fields = FieldList<>;
};

HeapOptions with_limit(std::size_t limit, std::size_t nursery) {
  HeapOptions options = with_nursery(nursery);
  options.hard_limit_bytes = limit;
  return options;
}

/// Adds to the list until the limit is reached; returns the length.
std::size_t fill(Mutator& mutator, Local<Node>& list, OutOfMemory::Facts& facts) {
  std::size_t length = list == nullptr ? 0 : list->id + 1;
  try {
    while (true) {
      Ref<Node> head = list;
      const Ref<Node> node = make<Node>(mutator, live(head), length);
      node->right = head;
      list = node;
      ++length;
    }
  } catch (const OutOfMemory& error) {
    facts = error.facts();
  }
  return length;
}

void expect_facts(const OutOfMemory::Facts& facts, const HeapOptions& options,
                  std::size_t requested) {
  EXPECT_GE(facts.requested_bytes, requested);
  EXPECT_EQ(facts.hard_limit_bytes, options.hard_limit_bytes);
  EXPECT_LE(facts.used_bytes, facts.committed_bytes);
  EXPECT_LE(facts.committed_bytes, options.hard_limit_bytes);
  EXPECT_GE(facts.full_collections, 1U);
  EXPECT_FALSE(facts.operating_system_refused);
}

TEST(HardLimit, RefsNamedInLiveFollowTheirObjectsThroughAFailure) {
  TestHeap test(with_limit(16 * kMiB, 1 * kMiB));
  Ref<Node> node = make<Node>(test.mutator, 7);
  const Local<Node> same(test.mutator, node);
  ASSERT_TRUE(is_young(node));
  EXPECT_THROW(make_values<Bytes>(test.mutator, live(node), 64 * kMiB), OutOfMemory);
  EXPECT_FALSE(is_young(node)) << "the failure has collected";
  EXPECT_TRUE(node == same.get());
  EXPECT_TRUE(node->intact(7));
  Ref<Node> next = make<Node>(test.mutator, live(node), 8);
  const Local<Node> same_next(test.mutator, next);
  {
    AllocationCursor cursor(test.mutator);
    EXPECT_THROW(cursor.make<Enormous>(live(node, next)), OutOfMemory);
  }
  EXPECT_TRUE(next == same_next.get());
  EXPECT_TRUE(next->intact(8));
}

TEST(HardLimit, MemoryKeptForTheNurseryGoesToAnAllocationThatNeedsIt) {
  TestHeap test(with_limit(16 * kMiB, 2 * kMiB));
  make_list(test.mutator, 100'000);
  test.heap.collect();
  // An explicit collection keeps room for the next nursery …
  EXPECT_GT(test.heap.statistics().committed, 16 * kMiB - 9 * kMiB);
  // … but this fits only without it.
  const Local<Bytes> large(test.mutator, make_values<Bytes>(test.mutator, 9 * kMiB));
  fill_pattern(*large, 1);
  EXPECT_TRUE(has_pattern(*large, 1));
  EXPECT_LE(test.heap.statistics().committed, 16 * kMiB);
}

TEST(HardLimit, SmallObjectsFailAndTheHeapGoesOn) {
  const Watchdog watchdog;
  for (const std::size_t nursery : {4 * kKiB, 64 * kKiB, 1 * kMiB, 4 * kMiB}) {
    SCOPED_TRACE("nursery of " + std::to_string(nursery) + " bytes");
    const HeapOptions options = with_limit(32 * kMiB, nursery);
    TestHeap test(options);
    Local<Node> list(test.mutator);
    for (int round = 0; round < 3; ++round) {
      OutOfMemory::Facts facts;
      const std::size_t length = fill(test.mutator, list, facts);
      expect_facts(facts, options, sizeof(Node));
      EXPECT_GT(length * sizeof(Node), 16 * kMiB) << "half of the limit should be of use";
      EXPECT_LE(test.heap.statistics().committed, options.hard_limit_bytes);
      EXPECT_EQ(check_list(list), length);
      EXPECT_EQ(expect_sound(test.heap).objects, length);
      // Many failures in a row change nothing.
      for (int i = 0; i < 20; ++i) {
        EXPECT_THROW(make_values<Bytes>(test.mutator, 8 * kMiB), OutOfMemory);
      }
      EXPECT_EQ(check_list(list), length);
      // Most of the list goes, and its memory can be used for something else.
      for (std::size_t i = 0; i < length - 100; ++i) list = list->right;
      EXPECT_EQ(check_list(list), 100U);
      const Local<Bytes> large(test.mutator, make_values<Bytes>(test.mutator, 2 * kMiB));
      EXPECT_EQ(large->length(), 2 * kMiB);
    }
  }
}

TEST(HardLimit, LargeObjectsFailAndTheHeapGoesOn) {
  const Watchdog watchdog;
  const HeapOptions options = with_limit(40 * kMiB, 256 * kKiB);
  TestHeap test(options);
  Local<Array<Bytes>> kept(test.mutator, make_array<Bytes>(test.mutator, 100));
  std::size_t made = 0;
  std::string text;
  try {
    for (; made < 100; ++made) {
      put(kept, made, make_values<Bytes>(test.mutator, 1 * kMiB));
      fill_pattern(*kept->get(made), made);
    }
    FAIL() << "no exception";
  } catch (const OutOfMemory& error) {
    expect_facts(error.facts(), options, 1 * kMiB);
    text = error.what();
  }
  EXPECT_NE(text.find("40 MiB"), std::string::npos) << text;
  EXPECT_GT(made, 20U);
  for (std::size_t i = 0; i < made; ++i) ASSERT_TRUE(has_pattern(*kept->get(i), i));
  EXPECT_EQ(expect_sound(test.heap).objects, made + 1);
  for (std::size_t i = 0; i < made; i += 2) kept->set(i, nullptr);
  for (std::size_t i = 0; i < made; i += 2) {
    put(kept, i, make_values<Bytes>(test.mutator, 1 * kMiB - 100 * kKiB));
  }
  for (std::size_t i = 1; i < made; i += 2) ASSERT_TRUE(has_pattern(*kept->get(i), i));
  expect_sound(test.heap);
}

TEST(HardLimit, GarbageIsNoReasonToFail) {
  const Watchdog watchdog;
  HeapOptions options = with_limit(24 * kMiB, 256 * kKiB);
  // The growth rule would not collect in time by itself.
  options.growth_floor_bytes = 1024 * kMiB;
  TestHeap test(options);
  Local<Node> list(test.mutator);
  for (std::size_t round = 0; round < scaled(60) + 4; ++round) {
    // Each list becomes old before the next one replaces it.
    list = make_list(test.mutator, 50'000);
    const Local<Bytes> large(test.mutator, make_values<Bytes>(test.mutator, 1 * kMiB));
    large->data()[0] = 1;
  }
  EXPECT_EQ(check_list(list), 50'000U);
  EXPECT_GT(test.heap.statistics().full_collections, 0U);
  expect_sound(test.heap);
}

TEST(HardLimit, EverySizeFailsInTheSameWay) {
  const Watchdog watchdog;
  TestHeap test(with_limit(16 * kMiB, 256 * kKiB));
  Local<Node> list(test.mutator);
  OutOfMemory::Facts facts;
  const std::size_t length = fill(test.mutator, list, facts);
  for (std::size_t bytes = 16; bytes <= 64 * kMiB; bytes = bytes * 3 / 2 / 8 * 8 + 8) {
    SCOPED_TRACE("objects of " + std::to_string(bytes) + " bytes");
    Local<Array<Object>> chain(test.mutator);
    std::size_t made = 0;
    bool failed = false;
    try {
      for (; made < 4 * kMiB; made += bytes) {
        Local<Bytes> item(test.mutator, make_values<Bytes>(test.mutator, bytes - 16));
        const Ref<Array<Object>> link = make_array<Object>(test.mutator, 2);
        link->set(0, item);
        link->set(1, chain);
        chain = link;
      }
    } catch (const OutOfMemory& error) {
      failed = true;
      EXPECT_LE(error.facts().requested_bytes, bytes + 64);
    }
    // The heap is full: only what the nursery and the rests of blocks can hold may succeed.
    EXPECT_TRUE(failed);
    ASSERT_EQ(check_list(list), length);
  }
  expect_sound(test.heap);
}

TEST(HardLimit, CursorsFailToo) {
  const Watchdog watchdog;
  const HeapOptions options = with_limit(20 * kMiB, 256 * kKiB);
  TestHeap test(options);
  Local<Node> list(test.mutator);
  for (int round = 0; round < 5; ++round) {
    std::uint64_t length = 0;
    bool failed = false;
    {
      AllocationCursor cursor(test.mutator);
      try {
        while (length < 10'000'000) {
          Ref<Node> head = list;
          const Ref<Node> node = cursor.make<Node>(live(head), length);
          node->right = head;
          list = node;
          ++length;
        }
      } catch (const OutOfMemory& error) {
        expect_facts(error.facts(), options, sizeof(Node));
        failed = true;
      }
      EXPECT_TRUE(failed);
      EXPECT_EQ(check_list(list), length);
      list = nullptr;
      for (std::uint64_t i = 0; i < 1000; ++i) cursor.make<Node>(i);
    }
    expect_sound(test.heap);
  }
}

TEST(HardLimitThreads, AllFailAndGoOn) {
  const Watchdog watchdog(250);
  Heap heap(with_limit(32 * kMiB, 256 * kKiB));
  std::atomic<std::uint64_t> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      Mutator mutator(heap);
      Local<Node> list(mutator);
      for (std::size_t round = 0; round < scaled(8) + 1; ++round) {
        OutOfMemory::Facts facts;
        const std::size_t length = fill(mutator, list, facts);
        failures.fetch_add(1);
        ASSERT_EQ(check_list(list), length);
        list = nullptr;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures.load(), 3 * (scaled(8) + 1));
  heap.collect();
  EXPECT_EQ(expect_sound(heap).objects, 0U);
  EXPECT_LE(heap.statistics().committed, 32 * kMiB);
}

TEST(HardLimitThreads, LargeObjectsOfSeveralThreadsDoNotPassItTogether) {
  const Watchdog watchdog(250);
  Heap heap(with_limit(64 * kMiB, 1 * kMiB));
  std::atomic<std::size_t> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      Mutator mutator(heap);
      for (std::size_t round = 0; round < scaled(400); ++round) {
        try {
          const Local<Bytes> bytes(mutator, make_values<Bytes>(mutator, 30 * kMiB));
          const std::size_t committed = heap.statistics().committed;
          std::size_t before = most;
          while (committed > before && !most.compare_exchange_weak(before, committed)) {
          }
          mutator.poll();
        } catch (const OutOfMemory& error) {
          EXPECT_FALSE(error.facts().operating_system_refused);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(most.load(), 30 * kMiB);
  EXPECT_LE(most.load(), 64 * kMiB);
}

}  // namespace
}  // namespace fallow::test
