// fork() in every state: the child uses the heap, the parent goes on.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "tests/heap/child_process.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

constexpr std::size_t kListLength = 500;

/// What a child does with the mutator that it inherited; the exit code says what went wrong.
int use_heap(Heap& heap, Mutator& mutator, const Local<Node>& inherited) {
  if (check_list(inherited) != kListLength) return 10;
  for (int round = 0; round < 3; ++round) {
    const Local<Node> list(mutator, make_list(mutator, 2000));
    if (!heap.verify().complaints.empty()) return 11;
    heap.collect_minor();
    heap.collect();
    if (!heap.verify().complaints.empty()) return 12;
    if (check_list(list) != 2000 || check_list(inherited) != kListLength) return 13;
  }
  make_garbage(mutator, 8 * kMiB);
  if (check_list(inherited) != kListLength) return 14;
  return heap.statistics().mutators == 1 ? 0 : 15;
}

/// Forks again and again while `disturb(heap, done)` runs in other threads.
template <class Disturb>
void fork_while(const HeapOptions& options, int disturbers, std::size_t forks, Disturb&& disturb) {
  const Watchdog watchdog(250);
  Heap heap(options);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < disturbers; ++i) threads.emplace_back([&] { disturb(heap, done); });
  {
    Mutator mutator(heap, "forks");
    const Local<Node> list(mutator, make_list(mutator, kListLength));
    for (std::size_t i = 0; i < forks; ++i) {
      ASSERT_EQ(run_in_child([&] { return use_heap(heap, mutator, list); }), "exit 0")
          << "fork " << i;
      make_garbage(mutator, 100 * kKiB);
      ASSERT_EQ(check_list(list), kListLength);
      mutator.poll();
    }
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  heap.collect();
  EXPECT_EQ(expect_sound(heap).objects, 0U);
}

constexpr std::size_t kForks = kSanitized ? 8 : 60;

TEST(Fork, OfAnIdleProcess) {
  for_each_nursery_size([](std::size_t nursery) {
    fork_while(with_nursery(nursery), 0, 2, [](Heap&, std::atomic<bool>&) {});
  });
}

TEST(Fork, WhileOthersAllocate) {
  fork_while(with_nursery(64 * kKiB), 2, kForks, [](Heap& heap, std::atomic<bool>& done) {
    Mutator mutator(heap, "allocates");
    while (!done.load()) {
      const Local<Node> list(mutator, make_list(mutator, 100));
      EXPECT_EQ(check_list(list), 100U);
    }
  });
}

TEST(Fork, WhileOthersStoreIntoOldObjects) {
  // A child must not see a store without its entry in the remembered set. The disturbers do hardly
  // anything but first stores of young objects into old fields and cards.
  fork_while(with_nursery(256 * kKiB), 2, kForks, [](Heap& heap, std::atomic<bool>& done) {
    Mutator mutator(heap, "stores");
    // In Globals, so that the child goes on with them after this thread has vanished.
    Global<Node> list(heap, make_list(mutator, 3000));
    Global<Array<Node>> cards(heap);
    cards = make_array<Node>(mutator, 128 * 1000);
    while (!done.load()) {
      heap.collect_minor();
      const Ref<Node> young = make<Node>(mutator, 7);
      for (Node* node = list.get().get(); node != nullptr; node = node->right.get().get()) {
        node->left = young;
      }
      for (std::size_t i = 0; i < cards->length(); i += 128) cards->set_unchecked(i, young);
    }
  });
}

TEST(Fork, WhileOthersAllocateLargeObjects) {
  fork_while(with_nursery(64 * kKiB), 2, kForks / 2, [](Heap& heap, std::atomic<bool>& done) {
    Mutator mutator(heap, "allocates");
    Local<Bytes> bytes(mutator);
    while (!done.load()) bytes = make_values<Bytes>(mutator, 50 * kKiB);
  });
}

TEST(Fork, WhileAnotherThreadCollects) {
  fork_while(with_nursery(64 * kKiB), 1, kForks, [](Heap& heap, std::atomic<bool>& done) {
    for (int i = 0; !done.load(); ++i) i % 10 == 0 ? heap.collect() : heap.collect_minor();
  });
}

TEST(Fork, WhileAMutatorCollects) {
  fork_while(with_nursery(64 * kKiB), 1, kForks, [](Heap& heap, std::atomic<bool>& done) {
    Mutator mutator(heap, "collects");
    const Local<Node> list(mutator, make_list(mutator, 300));
    for (int i = 0; !done.load(); ++i) i % 10 == 0 ? heap.collect() : heap.collect_minor();
    EXPECT_EQ(check_list(list), 300U);
  });
}

TEST(Fork, WhileOthersAreParked) {
  fork_while(with_nursery(64 * kKiB), 2, kForks / 2, [](Heap& heap, std::atomic<bool>& done) {
    Mutator mutator(heap, "parked");
    const Local<Node> list(mutator, make_list(mutator, 300));
    {
      const Parked parked(mutator);
      while (!done.load()) std::this_thread::yield();
    }
    EXPECT_EQ(check_list(list), 300U);
  });
}

TEST(Fork, WhileOthersAttachAndLeave) {
  fork_while(with_nursery(64 * kKiB), 2, kForks, [](Heap& heap, std::atomic<bool>& done) {
    while (!done.load()) {
      Mutator mutator(heap, "short");
      const Local<Node> list(mutator, make_list(mutator, 20));
    }
  });
}

TEST(Fork, WhileGlobalsComeAndGo) {
  fork_while(with_nursery(64 * kKiB), 1, kForks, [](Heap& heap, std::atomic<bool>& done) {
    Mutator mutator(heap, "globals");
    while (!done.load()) {
      std::vector<std::unique_ptr<Global<Node>>> globals;
      for (std::uint64_t i = 0; i < 20; ++i) {
        const Ref<Node> node = make<Node>(mutator, i);
        globals.push_back(std::make_unique<Global<Node>>(heap, node));
      }
    }
  });
}

TEST(Fork, OfAThreadOtherThanTheMainOne) {
  const Watchdog watchdog;
  Heap heap(with_nursery(64 * kKiB));
  std::string ended;
  std::thread([&] {
    Mutator mutator(heap, "forks");
    const Local<Node> list(mutator, make_list(mutator, kListLength));
    ended = run_in_child([&] { return use_heap(heap, mutator, list); });
    EXPECT_EQ(check_list(list), kListLength);
  }).join();
  EXPECT_EQ(ended, "exit 0");
  Mutator mutator(heap);
  make_garbage(mutator, 1 * kMiB);
}

TEST(Fork, OfAThreadWithoutAMutator) {
  const Watchdog watchdog;
  Heap heap(with_nursery(64 * kKiB));
  Global<Node> kept(heap);
  std::atomic<bool> done{false};
  std::thread other([&] {
    Mutator mutator(heap, "other");
    kept = make_list(mutator, kListLength);
    while (!done.load()) make<Node>(mutator);
  });
  while (heap.statistics().minor_collections < 3) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(run_in_child([&] {
                Mutator mutator(heap, "in the child");
                const Local<Node> list(mutator, kept.get());
                return use_heap(heap, mutator, list);
              }),
              "exit 0");
  }
  done.store(true);
  other.join();
}

TEST(Fork, WithAnOpenCursorAndInAParkedState) {
  const Watchdog watchdog;
  TestHeap test(with_nursery(256 * kKiB));
  const Local<Node> list(test.mutator, make_list(test.mutator, kListLength));
  {
    AllocationCursor cursor(test.mutator);
    cursor.make<Node>(1U);
    EXPECT_EQ(run_in_child([&] {
                for (std::uint64_t i = 0; i < 10'000; ++i) cursor.make<Node>(i);
                return use_heap(test.heap, test.mutator, list);
              }),
              "exit 0");
    cursor.make<Node>(2U);
  }
  pid_t child = 0;
  {
    const Parked parked(test.mutator);
    child = fork();
    if (child == 0) alarm(60);
  }
  if (child == 0) _exit(use_heap(test.heap, test.mutator, list));
  EXPECT_EQ(wait_for(child), "exit 0");
  EXPECT_EQ(check_list(list), kListLength);
}

TEST(Fork, OfAForkedChild) {
  const Watchdog watchdog;
  TestHeap test(with_nursery(64 * kKiB));
  const Local<Node> list(test.mutator, make_list(test.mutator, kListLength));
  EXPECT_EQ(run_in_child([&] {
              if (use_heap(test.heap, test.mutator, list) != 0) return 1;
              const std::string grandchild =
                  run_in_child([&] { return use_heap(test.heap, test.mutator, list); });
              return grandchild == "exit 0" && check_list(list) == kListLength ? 0 : 2;
            }),
            "exit 0");
}

TEST(Fork, TheChildEndsWithAllDestructors) {
  const Watchdog watchdog;
  auto heap = std::make_unique<Heap>(with_nursery(64 * kKiB));
  auto mutator = std::make_unique<Mutator>(*heap);
  make_list(*mutator, 100);
  const pid_t child = fork_child([&] {
    mutator.reset();
    heap.reset();
    Heap fresh(with_nursery(64 * kKiB));
    Mutator other(fresh);
    const Local<Node> list(other, make_list(other, 5000));
    return check_list(list) == 5000 ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), "exit 0");
  const Local<Node> list(*mutator, make_list(*mutator, 5000));
  EXPECT_EQ(check_list(list), 5000U);
}

TEST(Fork, OfSeveralHeapsAtOnce) {
  const Watchdog watchdog;
  TestHeap first(with_nursery(64 * kKiB));
  TestHeap second(with_nursery(32 * kKiB));
  const Local<Node> one(first.mutator, make_list(first.mutator, kListLength));
  const Local<Node> two(second.mutator, make_list(second.mutator, kListLength));
  EXPECT_EQ(run_in_child([&] {
              const int code = use_heap(first.heap, first.mutator, one);
              return code != 0 ? code : use_heap(second.heap, second.mutator, two);
            }),
            "exit 0");
  EXPECT_EQ(check_list(one), kListLength);
  EXPECT_EQ(check_list(two), kListLength);
}

}  // namespace
}  // namespace fallow::test
