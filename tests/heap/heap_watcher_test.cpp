// Watchers learn of every heap, whichever came first.
#include "fallow/heap_watcher.h"

#include <set>
#include <thread>
#include <vector>

#include "tests/heap/sample_log.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

struct Watcher : HeapWatcher {
  void on_created(Heap& heap) noexcept override { alive.push_back(&heap); }
  void on_destroying(Heap& heap) noexcept override { std::erase(alive, &heap); }
  std::vector<Heap*> alive;
};

TEST(HeapWatcher, IsToldOfHeapsBeforeAndAfter) {
  Heap first;
  Watcher watcher;
  watch_heaps(watcher);
  EXPECT_EQ(watcher.alive, std::vector<Heap*>{&first});
  {
    Heap second;
    EXPECT_EQ(watcher.alive, (std::vector<Heap*>{&first, &second}));
  }
  EXPECT_EQ(watcher.alive, std::vector<Heap*>{&first});
  unwatch_heaps(watcher);
  const Heap third;
  EXPECT_EQ(watcher.alive, std::vector<Heap*>{&first});
}

/// Samples all heaps of the process, those that it has met before once only.
struct SamplingWatcher : HeapWatcher {
  void on_created(Heap& heap) noexcept override {
    if (sampled.insert(&heap).second) heap.start_sampling(log, {500, 1});
  }
  void on_destroying(Heap& heap) noexcept override {
    if (sampled.erase(&heap) != 0) heap.stop_sampling();
  }
  SampleLog log;
  std::set<Heap*> sampled;
};

TEST(HeapWatcherThreads, MaySampleHeapsWhileOthersAllocateAndMakeHeaps) {
  SamplingWatcher watcher;
  Heap shared;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&shared] {
      // Has a running mutator whenever it makes a heap, which waits for the watcher.
      Mutator mutator(shared);
      for (int i = 0; i < 40; ++i) {
        TestHeap own(with_nursery(64 * kKiB));
        make_garbage(own.mutator, 10'000);
        make_garbage(mutator, 10'000);
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    watch_heaps(watcher);
    shared.collect_minor();
    if (round + 1 != 20) unwatch_heaps(watcher);
  }
  for (std::thread& thread : threads) thread.join();
  shared.stop_sampling();
  unwatch_heaps(watcher);
}

}  // namespace
}  // namespace fallow::test
