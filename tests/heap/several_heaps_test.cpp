// Several heaps in one process, one after the other and side by side.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fallow/events.h"
#include "platform/resident.h"
#include "tests/heap/child_process.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

TEST(SeveralHeaps, AlternateInOneThread) {
  TestHeap first(with_nursery(16 * kKiB));
  TestHeap second(with_nursery(64 * kKiB));
  TestHeap third(with_nursery(1 * kMiB));
  TestHeap* const heaps[] = {&first, &second, &third};
  Local<Node> lists[] = {Local<Node>(first.mutator), Local<Node>(second.mutator),
                         Local<Node>(third.mutator)};
  Local<Array<Node>> arrays[] = {
      Local<Array<Node>>(first.mutator, make_array<Node>(first.mutator, 300)),
      Local<Array<Node>>(second.mutator, make_array<Node>(second.mutator, 300)),
      Local<Array<Node>>(third.mutator, make_array<Node>(third.mutator, 300))};
  for (std::uint64_t i = 0; i < 5000; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Ref<Node> node = make<Node>(heaps[k]->mutator, i);
      node->right = lists[k];
      lists[k] = node;
      arrays[k]->set(i % 300, node);
    }
    if (i % 500 == 0) heaps[i / 500 % 3]->heap.collect_minor();
    if (i % 1000 == 0) heaps[i / 1000 % 3]->heap.collect();
  }
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(check_list(lists[k]), 5000U);
    for (std::uint64_t i = 4700; i < 5000; ++i) EXPECT_TRUE(arrays[k]->get(i % 300)->intact(i));
    EXPECT_EQ(expect_sound(heaps[k]->heap).objects, 5001U);
  }
}

TEST(SeveralHeaps, StopOnlyTheirOwnMutators) {
  const Watchdog watchdog;
  TestHeap busy(with_nursery(64 * kKiB));
  Heap other(with_nursery(64 * kKiB));
  const Local<Node> node(busy.mutator, make<Node>(busy.mutator, 1));
  const std::uintptr_t address = address_of(node.get());
  // This thread does not poll meanwhile: the other heap does not wait for it.
  std::thread([&] {
    Mutator mutator(other);
    for (int i = 0; i < 100; ++i) {
      make_garbage(mutator, 100 * kKiB);
      other.collect();
    }
  }).join();
  EXPECT_EQ(address_of(node.get()), address);
}

/// Allocates and collects in turn in two heaps that other threads use as well.
void work_in_both(Heap& first, Heap& second, std::uint64_t seed, int rounds) {
  Mutator mutators[] = {Mutator(first), Mutator(second)};
  Local<Node> lists[] = {Local<Node>(mutators[0]), Local<Node>(mutators[1])};
  std::uint64_t lengths[] = {0, 0};
  for (int i = 0; i < rounds; ++i) {
    const std::uint64_t decision = scramble(seed + static_cast<std::uint64_t>(i));
    const std::size_t k = decision % 2;
    const Ref<Node> node = make<Node>(mutators[k], lengths[k]++);
    node->right = lists[k];
    lists[k] = node;
    if (decision / 2 % 64 == 0) mutators[1 - k].heap().collect_minor();
    if (decision / 2 % 512 == 1) mutators[k].heap().collect();
    if (decision / 2 % 64 == 2) const Parked parked(mutators[k]);
    if (decision / 2 % 64 == 3) const Mutator third(second);
    if (decision / 2 % 64 == 4) const Heap own(with_nursery(4 * kKiB));
    make_garbage(mutators[1 - k], 2 * kKiB);
  }
  for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(check_list(lists[k]), lengths[k]);
}

TEST(SeveralHeapsThreads, TwoHeapsOfTheSameThreads) {
  const Watchdog watchdog;
  Heap older(with_nursery(64 * kKiB));
  Heap younger(with_nursery(64 * kKiB));
  const auto rounds = static_cast<int>(scaled(4000));
  std::vector<std::thread> threads;
  threads.emplace_back([&] { work_in_both(older, younger, 1, rounds); });
  threads.emplace_back([&] { work_in_both(younger, older, 2, rounds); });
  threads.emplace_back([&] { work_in_both(older, younger, 3, rounds); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(expect_sound(older).complaints.empty());
  EXPECT_TRUE(expect_sound(younger).complaints.empty());
}

TEST(SeveralHeapsThreads, ForkBesideTwoHeapsOfTheSameThreads) {
  const Watchdog watchdog;
  Heap older(with_nursery(64 * kKiB));
  Heap younger(with_nursery(64 * kKiB));
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      while (!done) work_in_both(i == 0 ? older : younger, i == 0 ? younger : older, i, 100);
    });
  }
  {
    // Created in the other order: the fork stops the heaps in the order of their creation.
    Mutator mine[] = {Mutator(younger), Mutator(older)};
    const Local<Node> lists[] = {Local<Node>(mine[0], make_list(mine[0], 100)),
                                 Local<Node>(mine[1], make_list(mine[1], 100))};
    for (std::size_t i = 0; i < scaled(200); ++i) {
      EXPECT_EQ(run_in_child([&] {
                  mine[0].heap().collect();
                  make_list(mine[1], 1000);
                  return check_list(lists[0]) == 100 && check_list(lists[1]) == 100 ? 0 : 1;
                }),
                "exit 0");
      mine[i % 2].poll();
    }
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(SeveralHeapsThreads, GlobalsOfAHeapThatTheThreadHasNoMutatorIn) {
  const Watchdog watchdog;
  Heap foreign(with_nursery(256 * kKiB));
  std::mutex mutex;
  std::vector<std::unique_ptr<Global<Node>>> handed_over;
  std::atomic<bool> done{false};
  std::thread maker([&] {
    Mutator mutator(foreign, "maker");
    const Local<Array<Node>> kept(mutator, make_array<Node>(mutator, 2000));
    for (std::size_t i = 0; i < 2000; ++i) put(kept, i, make<Node>(mutator, i));
    for (std::uint64_t round = 0; !done; ++round) {
      std::vector<std::unique_ptr<Global<Node>>> made;
      for (std::size_t i = 0; i < 200; ++i) {
        made.push_back(std::make_unique<Global<Node>>(foreign, kept->get((round * 7 + i) % 2000)));
      }
      const Parked parked(mutator);
      const std::scoped_lock lock(mutex);
      std::move(made.begin(), made.end(), std::back_inserter(handed_over));
    }
    for (std::size_t i = 0; i < 2000; ++i) EXPECT_TRUE(kept->get(i)->intact(i));
  });
  std::thread collector([&] {
    while (!done) foreign.collect();
  });
  {
    // Ends them while the other heap marks; its records must not land in this thread's own heap.
    TestHeap own(with_nursery(64 * kKiB));
    for (std::size_t round = 0; round < scaled(300); ++round) {
      std::vector<std::unique_ptr<Global<Node>>> ending;
      {
        const std::scoped_lock lock(mutex);
        ending.swap(handed_over);
      }
      for (auto& global : ending) {
        global.reset();
        own.mutator.poll();
      }
      own.heap.collect();
      if (round % 50 == 0) {
        expect_sound(own.heap);
        expect_sound(foreign);
      }
    }
  }
  done = true;
  collector.join();
  maker.join();
  handed_over.clear();
  expect_sound(foreign);
}

TEST(SeveralHeapsThreads, ForkWhileAMutatorOfOneUsesTheLocksOfAnother) {
  const Watchdog watchdog;
  Heap first(with_nursery(64 * kKiB));
  Heap second(with_nursery(64 * kKiB));
  std::atomic<bool> done{false};
  std::thread user([&] {
    Mutator mutator(second, "only in the second");
    EventListener listener;
    while (!done) {
      const Global<Node> global(first);
      first.add_listener(listener);
      first.remove_listener(listener);
      mutator.poll();
    }
  });
  for (std::size_t i = 0; i < scaled(1000) / (kSanitized ? 10 : 1); ++i) {
    ASSERT_EQ(run_in_child([] { return 0; }), "exit 0");
  }
  done = true;
  user.join();
}

TEST(SeveralHeaps, TwoMutatorsOfOneThreadInOneHeap) {
  const Watchdog watchdog;
  TestHeap test(with_nursery(64 * kKiB));
  Mutator second(test.heap);
  const Local<Node> first_list(test.mutator, make_list(test.mutator, 3000));
  const Local<Node> second_list(second, make_list(second, 3000));
  test.heap.collect();
  EXPECT_EQ(check_list(first_list), 3000U);
  EXPECT_EQ(check_list(second_list), 3000U);
}

// A thread that is back with its first mutator, and waits with the second for a collector that
// waits for the first, would wait for ever.
TEST(SeveralHeaps, TwoMutatorsOfOneThreadComeBackTogether) {
  const Watchdog watchdog;
  TestHeap test(with_nursery(64 * kKiB));
  Mutator second(test.heap);
  std::atomic<bool> over{false};
  std::thread collector([&] {
    const Mutator own(test.heap);
    while (!over) test.heap.collect_minor();
  });
  for (std::size_t i = 0; i < scaled(200'000); ++i) {
    test.mutator.poll();
    second.poll();
    if (i % 100 == 0) const Parked parked(second);
  }
  over = true;
  const Parked parked(test.mutator);
  const Parked parked_too(second);
  collector.join();
}

TEST(SeveralHeaps, WorkInParallel) {
  const Watchdog watchdog;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      for (std::size_t round = 0; round < scaled(40); ++round) {
        TestHeap test(with_nursery(kNurserySizes[round % std::size(kNurserySizes)]));
        const Local<Node> list(test.mutator, make_list(test.mutator, 3000));
        test.heap.collect();
        EXPECT_EQ(check_list(list), 3000U);
        EXPECT_EQ(expect_sound(test.heap).objects, 3000U);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void use_and_drop_a_heap(std::size_t nursery) {
  TestHeap test(with_nursery(nursery));
  const Local<Node> list(test.mutator, make_list(test.mutator, 2000));
  const Local<Bytes> large(test.mutator, make_values<Bytes>(test.mutator, 200 * kKiB));
  fill_pattern(*large, 1);
  test.heap.collect();
  make_list(test.mutator, 500);
}

TEST(SeveralHeaps, HundredsCreatedAndDestroyedLeaveNothing) {
  const auto round = [] {
    for (std::size_t i = 0; i < 100; ++i) {
      use_and_drop_a_heap(kNurserySizes[i % std::size(kNurserySizes)]);
    }
  };
  round();
  const std::size_t mappings = platform::mapping_count();
  const std::size_t resident = platform::resident_bytes();
  round();
  round();
  EXPECT_LE(platform::mapping_count(), mappings + 5);
  if (!kSanitized) {
    EXPECT_LE(platform::resident_bytes(), resident + 4 * kMiB);
  }
}

TEST(SeveralHeaps, ManyAtTheSameTime) {
  const std::size_t count = kSanitized ? 20 : 100;
  std::vector<std::unique_ptr<TestHeap>> heaps;
  for (std::size_t i = 0; i < count; ++i) {
    heaps.push_back(std::make_unique<TestHeap>(with_nursery(64 * kKiB)));
    make_list(heaps.back()->mutator, 2000);
  }
  for (const auto& test : heaps) {
    test->heap.collect();
    EXPECT_EQ(expect_sound(test->heap).objects, 0U);
  }
}

TEST(SeveralHeaps, DestructionGivesMemoryBack) {
  // Warm up whatever stays for the life of the process.
  use_and_drop_a_heap(1 * kMiB);
  const std::size_t before = platform::resident_bytes();
  {
    TestHeap test(with_nursery(4 * kMiB));
    const Local<Node> list(test.mutator, make_list(test.mutator, 1'000'000));
    const Local<Bytes> large(test.mutator, make_values<Bytes>(test.mutator, 40 * kMiB));
    fill_pattern(*large, 1);
    if (!kSanitized) {
      EXPECT_GT(platform::resident_bytes(), before + 80 * kMiB);
    }
  }
  if (!kSanitized) {
    EXPECT_LE(platform::resident_bytes(), before + 8 * kMiB);
  }
}

}  // namespace
}  // namespace fallow::test
