// The collector's own tables cannot grow: it goes on in another way, and nothing is lost.
#include <sys/resource.h>

#include <cstdint>
#include <fstream>

#include "fallow/cursor.h"
#include "fallow/errors.h"
#include "platform/virtual_memory.h"
#include "tests/heap/child_process.h"
#include "tests/heap/refused_new.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

/// While it exists, malloc finds hardly any memory: the address space must not grow.
class NoMemory {
 public:
  NoMemory() {
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * platform::page_size() + 16 * kKiB;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~NoMemory() { setrlimit(RLIMIT_AS, &before_); }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;

 private:
  rlimit before_{};
};

class NoMemoryForTables : public ::testing::Test {
 protected:
  void SetUp() override {
    if constexpr (kSanitized) GTEST_SKIP() << "sanitizers need memory of their own";
  }
  /// Far from the first full collection, and with room for all that is allocated.
  static HeapOptions options() {
    HeapOptions options = with_nursery(64 * kMiB);
    options.growth_floor_bytes = 4096 * kMiB;
    return options;
  }
};

/// Brings the old space to a size at which the survivors of a test need no further chunk, whose
/// entry in the books would be refused.
void grow_old_space(TestHeap& test) {
  {
    const Local<Node> garbage(test.mutator, make_list(test.mutator, 2'500'000));
  }
  test.heap.collect();
}

TEST_F(NoMemoryForTables, RememberedCards) {
  const auto body = [] {
    constexpr std::size_t kLength = 4'000'000;
    TestHeap test(options());
    const Local<Array<Node>> array(test.mutator, make_array<Node>(test.mutator, kLength));
    grow_old_space(test);
    for (std::uint64_t round = 1; round <= 3; ++round) {
      {
        const NoMemory no_memory;
        const NewRefused not_even_a_little;
        for (std::size_t i = round; i < kLength; i += 128) {
          put(array, i, make<Node>(test.mutator, i + round));
        }
        test.heap.collect_minor();
      }
      for (std::size_t i = round; i < kLength; i += 128) {
        if (!array->get(i)->intact(i + round)) return 1;
      }
      if (!test.heap.verify().complaints.empty()) return 2;
    }
    return 0;
  };
  EXPECT_EQ(run_in_child(body), "exit 0");
}

TEST_F(NoMemoryForTables, RememberedSlots) {
  const auto body = [] {
    constexpr std::size_t kLength = 400'000;
    TestHeap test(options());
    const Local<Node> list(test.mutator, make_list(test.mutator, kLength));
    grow_old_space(test);
    for (std::uint64_t round = 1; round <= 3; ++round) {
      {
        const NoMemory no_memory;
        const NewRefused not_even_a_little;
        for (Local<Node> node(test.mutator, list); node != nullptr; node = node->right) {
          node->left = make<Node>(test.mutator, round);
        }
        test.heap.collect_minor();
      }
      for (const Node* node = list.get().get(); node != nullptr; node = node->right.get().get()) {
        if (!node->left->intact(round)) return 1;
      }
      if (!test.heap.verify().complaints.empty()) return 2;
    }
    return check_list(list) == kLength ? 0 : 3;
  };
  EXPECT_EQ(run_in_child(body), "exit 0");
}

TEST_F(NoMemoryForTables, MarkStack) {
  const auto body = [] {
    constexpr std::size_t kLength = 500'000;
    TestHeap test(options());
    // Wide, then deep: many objects wait for their turn at the same time.
    const Local<Array<Node>> array(test.mutator, make_array<Node>(test.mutator, kLength));
    for (std::size_t i = 0; i < kLength; ++i) {
      const Local<Node> node(test.mutator, make<Node>(test.mutator, i));
      if (i % 10 == 0) node->left = make<Node>(test.mutator, ~i);
      if (i >= 1000) node->right = array->get(i - 1000);
      array->set(i, node);
    }
    test.heap.collect_minor();
    const std::size_t used = test.heap.statistics().old_used;
    for (int round = 0; round < 2; ++round) {
      {
        const NoMemory no_memory;
        const NewRefused not_even_a_little;
        test.heap.collect();
      }
      for (std::size_t i = 0; i < kLength; ++i) {
        if (!array->get(i)->intact(i)) return 1;
        if (i % 10 == 0 && !array->get(i)->left->intact(~i)) return 2;
      }
      if (!test.heap.verify().complaints.empty()) return 3;
      if (test.heap.statistics().old_used != used) return 4;
    }
    return 0;
  };
  EXPECT_EQ(run_in_child(body), "exit 0");
}

TEST_F(NoMemoryForTables, ManyYoungLargeObjects) {
  const auto body = [] {
    constexpr std::size_t kLength = 20'000;
    // So large a nursery that all of them are young at the same time.
    HeapOptions large_nursery = options();
    large_nursery.nursery_bytes = 512 * kMiB;
    TestHeap test(large_nursery);
    const Local<Array<Array<Node>>> array(test.mutator,
                                          make_array<Array<Node>>(test.mutator, kLength));
    for (std::size_t i = 0; i < kLength; ++i) {
      const Local<Array<Node>> large(test.mutator, make_array<Node>(test.mutator, 1100));
      put(large, i % 1100, make<Node>(test.mutator, i));
      array->set(i, large);
    }
    {
      const NoMemory no_memory;
      const NewRefused not_even_a_little;
      test.heap.collect_minor();
    }
    for (std::size_t i = 0; i < kLength; ++i) {
      if (!array->get(i)->get(i % 1100)->intact(i)) return 1;
    }
    return test.heap.verify().complaints.empty() ? 0 : 2;
  };
  EXPECT_EQ(run_in_child(body), "exit 0");
}

// The collector goes on in the middle of its work: nobody is there to hand an exception to.
TEST(RefusedNew, EveryPartOfACollectionDoesWithout) {
  HeapOptions options = with_nursery(256 * kKiB);
  options.verify = false;  // the verifier needs memory of its own
  TestHeap test(options);
  constexpr std::size_t kLarge = 64;
  const Local<Array<Array<Node>>> large(test.mutator,
                                        make_array<Array<Node>>(test.mutator, kLarge));
  const Local<Node> list(test.mutator, make_list(test.mutator, 20'000));
  const int refused = NewRefused::count();
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < kLarge; ++i) {
      const Local<Array<Node>> array(test.mutator, make_array<Node>(test.mutator, 1100 + i));
      put(array, i, make<Node>(test.mutator, i));
      large->set(i, array);
    }
    AllocationCursor cursor(test.mutator);
    const Local<Node> last(test.mutator, cursor.make<Node>(~std::uint64_t{0}));
    {
      const NewRefused none;
      test.heap.collect_minor();
      // Every second large object dies, so that free spans neither merge nor stay whole.
      for (std::size_t i = 0; i < kLarge; i += 2) large->set(i, nullptr);
      test.heap.collect();
    }
    EXPECT_TRUE(last->intact(~std::uint64_t{0}));
    for (std::size_t i = 1; i < kLarge; i += 2) EXPECT_TRUE(large->get(i)->get(i)->intact(i));
  }
  EXPECT_EQ(NewRefused::count(), refused);
  EXPECT_EQ(check_list(list), 20'000U);
  expect_sound(test.heap);
}

TEST(RefusedNew, LargeAllocationFailsWithTheFacts) {
  if constexpr (!kNewCanBeRefused) GTEST_SKIP() << "operator new cannot be refused here";
  TestHeap test(with_nursery(256 * kKiB));
  const Local<Bytes> kept(test.mutator, make_values<Bytes>(test.mutator, 100 * kKiB));
  std::size_t requested = 0;
  {
    const NewRefused none;
    try {
      make_values<Bytes>(test.mutator, 200 * kKiB);
    } catch (const OutOfMemory& error) {
      requested = error.facts().requested_bytes;
    }
  }
  EXPECT_GE(requested, 200 * kKiB);
  EXPECT_NE(make_values<Bytes>(test.mutator, 200 * kKiB), nullptr);
  EXPECT_EQ(kept->length(), 100 * kKiB);
  expect_sound(test.heap);
}

TEST(RefusedNew, AMutatorThatCannotBeMadeLeavesTheHeapAsItWas) {
  for (int permitted = 0; permitted < 12; ++permitted) {
    EXPECT_EQ(run_in_child([&] {
                Heap heap(with_nursery(64 * kKiB));
                try {
                  const NewRefused then(permitted);
                  const Mutator mutator(heap, "a name too long to be kept without memory");
                } catch (const std::bad_alloc&) {
                }
                Mutator mutator(heap, "another");
                const Local<Node> node(mutator, make<Node>(mutator, 1));
                heap.collect();
                return node->intact(1) && heap.statistics().mutators == 1 ? 0 : 1;
              }),
              "exit 0")
        << permitted;
  }
}

TEST(RefusedNew, AVerifierWithoutMemoryLetsTheWorldGoOn) {
  for (int permitted = 0; permitted < 8; ++permitted) {
    EXPECT_EQ(run_in_child([&] {
                TestHeap test(with_nursery(64 * kKiB));
                const Local<Node> list(test.mutator, make_list(test.mutator, 5000));
                try {
                  const NewRefused then(permitted);
                  static_cast<void>(test.heap.verify());
                } catch (const std::bad_alloc&) {
                }
                test.heap.collect();
                return check_list(list) == 5000 ? 0 : 1;
              }),
              "exit 0")
        << permitted;
  }
}

}  // namespace
}  // namespace fallow::test
