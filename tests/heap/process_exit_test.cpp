// The end of the process while heaps, mutators and Globals exist in static data or in threads.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

/// In the order of their construction, so that they are destroyed the other way round.
struct Everything {
  Heap heap{with_nursery(64 * kKiB)};
  Global<Node> global{heap};
  Mutator mutator{heap, "static"};
};

[[noreturn]] void exit_with_static_heap() {
  static Everything everything;
  everything.global = make_list(everything.mutator, 100);
  everything.heap.collect();
  std::exit(check_list(everything.global.get()) == 100 ? 0 : 1);
}

[[noreturn]] void exit_with_heap_that_is_never_destroyed() {
  auto* const everything = new Everything;
  everything->global = make_list(everything->mutator, 100);
  std::exit(0);
}

[[noreturn]] void exit_while_threads_run(bool collecting) {
  static Heap* const heap = new Heap(with_nursery(64 * kKiB));
  static std::atomic<int> started{0};
  for (int i = 0; i < 3; ++i) {
    std::thread([collecting] {
      Mutator mutator(*heap, "goes on");
      started.fetch_add(1);
      while (true) {
        make_list(mutator, 100);
        if (collecting) heap->collect_minor();
      }
    }).detach();
  }
  while (started.load() < 3) std::this_thread::yield();
  std::exit(0);
}

[[noreturn]] void exit_inside_a_scope() {
  static Heap* const heap = new Heap(with_nursery(64 * kKiB));
  Mutator mutator(*heap);
  const Local<Node> list(mutator, make_list(mutator, 100));
  const Parked parked(mutator);
  std::exit(0);
}

class ProcessExit : public ::testing::Test {
 protected:
  // Each child starts afresh: what is tested is the end of a whole process.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ProcessExit, WithAStaticHeap) {
  EXPECT_EXIT(exit_with_static_heap(), ::testing::ExitedWithCode(0), "^$");
}

TEST_F(ProcessExit, WithAHeapThatIsNeverDestroyed) {
  EXPECT_EXIT(exit_with_heap_that_is_never_destroyed(), ::testing::ExitedWithCode(0), "");
}

TEST_F(ProcessExit, WhileThreadsAllocate) {
  EXPECT_EXIT(exit_while_threads_run(false), ::testing::ExitedWithCode(0), "^$");
}

TEST_F(ProcessExit, WhileThreadsCollect) {
  EXPECT_EXIT(exit_while_threads_run(true), ::testing::ExitedWithCode(0), "^$");
}

TEST_F(ProcessExit, InsideAScope) {
  EXPECT_EXIT(exit_inside_a_scope(), ::testing::ExitedWithCode(0), "");
}

void destroy_heap_under_a_mutator() {
  auto heap = std::make_unique<Heap>(with_nursery(64 * kKiB));
  Mutator* const mutator = new Mutator(*heap, "left over");
  make_list(*mutator, 100);
  heap.reset();
  // The memory is still there: the mutator may go on.
  const Local<Node> list(*mutator, make_list(*mutator, 5000));
  std::_Exit(check_list(list) == 5000 ? 0 : 1);
}

TEST_F(ProcessExit, AHeapDestroyedUnderAMutator) {
  if constexpr (detail::kChecked) {
    EXPECT_DEATH(destroy_heap_under_a_mutator(), "destroyed while 1 mutator");
  } else {
    EXPECT_EXIT(destroy_heap_under_a_mutator(), ::testing::ExitedWithCode(0), "");
  }
}

void destroy_heap_before_a_global() {
  auto heap = std::make_unique<Heap>(with_nursery(64 * kKiB));
  auto global = std::make_unique<Global<Node>>(*heap);
  heap.reset();
  global.reset();
  std::_Exit(0);
}

TEST_F(ProcessExit, AHeapDestroyedBeforeAGlobal) {
  if constexpr (detail::kChecked) {
    EXPECT_DEATH(destroy_heap_before_a_global(), "destroyed while 0 mutators and 1 Global");
  } else {
    EXPECT_EXIT(destroy_heap_before_a_global(), ::testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace fallow::test
