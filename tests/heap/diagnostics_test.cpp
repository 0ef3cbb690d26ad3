// The diagnostic modes prove that they are active: zeal, rotating nurseries, poison, verifier.
#include <cstdint>
#include <string>

#include "tests/heap/child_process.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

template <class Body>
std::string standard_error_of(Body&& body) {
  ::testing::internal::CaptureStderr();
  body();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Zeal, CollectsAtEveryNthAllocation) {
  for (const std::size_t zeal : {1U, 10U, 100U}) {
    HeapOptions options = with_nursery(4 * kMiB);
    options.zeal = zeal;
    constexpr std::size_t kAllocations = 20'000;
    std::uint64_t collections = 0;
    std::uint64_t fulls = 0;
    const std::string said = standard_error_of([&] {
      TestHeap test(options);
      for (std::size_t i = 0; i < kAllocations; ++i) make<Node>(test.mutator, i);
      collections = test.heap.statistics().minor_collections;
      fulls = test.heap.statistics().full_collections;
    });
    // The nursery alone would not have caused one.
    EXPECT_GE(collections, kAllocations / zeal * 8 / 10);
    EXPECT_LE(collections, kAllocations / zeal * 12 / 10 + 1);
    EXPECT_GT(fulls, 0U);
    EXPECT_NE(said.find("zeal"), std::string::npos) << said;
    EXPECT_NE(said.find("seed 1"), std::string::npos) << said;
    EXPECT_NE(said.find(std::to_string(collections) + " collections"), std::string::npos) << said;
  }
}

TEST(Zeal, IsPacedWhenMuchIsAlive) {
  HeapOptions options = with_nursery(256 * kKiB);
  options.zeal = 1;
  TestHeap test(options);
  // Without pacing this would be a quarter of a million collections of an ever larger heap.
  constexpr std::size_t kLength = 250'000;
  const Local<Node> list(test.mutator, make_list(test.mutator, kLength));
  EXPECT_EQ(check_list(list), kLength);
  EXPECT_GT(test.heap.statistics().full_collections, 1U);
  EXPECT_LT(test.heap.statistics().full_collections, kLength / 100);
}

TEST(Zeal, TheSeedDeterminesTheSchedule) {
  const auto run = [](std::uint64_t seed) {
    HeapOptions options = with_nursery(4 * kMiB);
    options.zeal = 50;
    options.zeal_seed = seed;
    TestHeap test(options);
    std::uint64_t history = 0;
    for (std::uint64_t i = 0; i < 5000; ++i) {
      make<Node>(test.mutator, i);
      history = scramble(history + test.heap.statistics().minor_collections);
    }
    return history;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

TEST(Zeal, CursorsAndArraysAreCoveredToo) {
  HeapOptions options = with_nursery(4 * kMiB);
  options.zeal = 1;
  TestHeap test(options);
  const auto collections = [&] { return test.heap.statistics().minor_collections; };
  std::uint64_t before = collections();
  {
    AllocationCursor cursor(test.mutator);
    for (std::uint64_t i = 0; i < 100; ++i) cursor.make<Node>(i);
  }
  EXPECT_GE(collections() - before, 80U);
  before = collections();
  for (std::size_t i = 0; i < 100; ++i) make_array<Node>(test.mutator, i);
  EXPECT_GE(collections() - before, 80U);
  before = collections();
  for (std::size_t i = 0; i < 100; ++i) make_values<Bytes>(test.mutator, 10'000);
  EXPECT_GE(collections() - before, 80U);
}

/// Reads a word behind the back of every check, as a program with a missing root would.
std::uint64_t read_word(std::uintptr_t address) {
  return *reinterpret_cast<const volatile std::uint64_t*>(address);
}

void read_through_a_stale_pointer() {
  HeapOptions options = with_nursery(64 * kKiB);
  options.rotating_nurseries = 8;
  TestHeap test(options);
  const std::uintptr_t stale = address_of(make<Node>(test.mutator, 1)) + 8;
  test.heap.collect_minor();
  std::_Exit(static_cast<int>(read_word(stale) & 1));
}

TEST(RotatingNurseries, AStalePointerFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(read_through_a_stale_pointer(), "");
}

TEST(RotatingNurseries, TakeTurns) {
  HeapOptions options = with_nursery(64 * kKiB);
  options.rotating_nurseries = 8;
  std::uintptr_t first[20];
  const std::string said = standard_error_of([&] {
    TestHeap test(options);
    const Local<Node> kept(test.mutator, make_list(test.mutator, 10));
    for (std::uintptr_t& address : first) {
      test.heap.collect_minor();
      address = address_of(make<Node>(test.mutator, 1));
      EXPECT_EQ(check_list(kept), 10U);
      expect_sound(test.heap);
    }
  });
  EXPECT_NE(said.find("8 protected nurseries"), std::string::npos) << said;
  for (int i = 0; i < 20; ++i) {
    for (int k = 0; k < i; ++k) EXPECT_EQ(first[i] == first[k], (i - k) % 8 == 0);
  }
}

TEST(Poison, FillsTheNurseryAndFreeCells) {
  HeapOptions options = with_nursery(64 * kKiB);
  options.poison = true;
  std::uint64_t young = 0;
  std::uint64_t old = 0;
  const std::string said = standard_error_of([&] {
    TestHeap test(options);
    Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
    const std::uintptr_t young_address = address_of(node.get()) + 8;
    test.heap.collect_minor();
    const std::uintptr_t old_address = address_of(node.get()) + 8;
    if (platform::address_sanitizer_active()) {
      EXPECT_TRUE(platform::is_poisoned(reinterpret_cast<void*>(young_address)));
      EXPECT_FALSE(platform::is_poisoned(reinterpret_cast<void*>(old_address)));
    } else {
      young = read_word(young_address);
    }
    const Local<Node> neighbour(test.mutator, make<Node>(test.mutator, 2));
    test.heap.collect_minor();
    node = nullptr;
    test.heap.collect();
    if (platform::address_sanitizer_active()) {
      EXPECT_TRUE(platform::is_poisoned(reinterpret_cast<void*>(old_address)));
    } else {
      old = read_word(old_address);
    }
    EXPECT_TRUE(neighbour->intact(2));
  });
  if (!platform::address_sanitizer_active()) {
    EXPECT_EQ(young, old);
    EXPECT_EQ(young >> 56, young & 0xff) << "the same byte everywhere";
    EXPECT_GT(young, std::uint64_t{1} << 47) << "no address of user space";
  }
  EXPECT_NE(said.find("poison"), std::string::npos) << said;
}

/// Damages a heap in a child process; 0 when the verifier notices.
template <class Damage>
std::string verify_after(Damage&& damage) {
  return run_in_child([&] {
    auto* const test = new TestHeap(with_nursery(64 * kKiB));
    Local<Node> old(test->mutator, make_list(test->mutator, 10));
    Local<Node> doomed(test->mutator, make<Node>(test->mutator, 99));
    test->heap.collect_minor();
    if (!test->heap.verify().complaints.empty()) return 1;
    damage(*test, old, doomed);
    return test->heap.verify().complaints.empty() ? 2 : 0;
  });
}

TEST(Verifier, FindsAYoungObjectThatIsNotRemembered) {
  EXPECT_EQ(verify_after([](TestHeap& test, Local<Node>& old, Local<Node>&) {
              Object* const young = make<Node>(test.mutator, 5).get();
              *old->left.slot_address() = young;
            }),
            "exit 0");
}

TEST(Verifier, FindsADanglingReference) {
  EXPECT_EQ(verify_after([](TestHeap& test, Local<Node>& old, Local<Node>& doomed) {
              Object* const dangling = doomed.get().get();
              doomed = nullptr;
              test.heap.collect();
              *old->left.slot_address() = dangling;
            }),
            "exit 0");
}

TEST(Verifier, FindsAReferenceIntoTheMiddleOfAnObject) {
  EXPECT_EQ(verify_after([](TestHeap&, Local<Node>& old, Local<Node>&) {
              auto* const inside = reinterpret_cast<char*>(old->right.get().get()) + 8;
              *old->left.slot_address() = reinterpret_cast<Object*>(inside);
            }),
            "exit 0");
}

TEST(Verifier, FindsAReferenceOutOfTheHeap) {
  static std::uint64_t words[4] = {};
  EXPECT_EQ(verify_after([](TestHeap&, Local<Node>& old, Local<Node>&) {
              *old->left.slot_address() = reinterpret_cast<Object*>(words);
            }),
            "exit 0");
}

TEST(Verifier, FindsAnObjectWithoutAType) {
  EXPECT_EQ(verify_after([](TestHeap&, Local<Node>& old, Local<Node>&) {
              detail::ObjectAccess::set_header(old->right.get().get(), 0);
            }),
            "exit 0");
}

TEST(Verifier, FindsAReferenceToAnotherHeap) {
  EXPECT_EQ(verify_after([](TestHeap&, Local<Node>& old, Local<Node>&) {
              auto* const other = new TestHeap(with_nursery(64 * kKiB));
              *old->left.slot_address() = make<Node>(other->mutator, 1).get();
            }),
            "exit 0");
}

TEST(Verifier, FindsAnUnmarkedCardOfALongArray) {
  EXPECT_EQ(run_in_child([] {
              auto* const test = new TestHeap(with_nursery(64 * kKiB));
              const Local<Array<Node>> array(test->mutator, make_array<Node>(test->mutator, 500));
              test->heap.collect_minor();
              put(array, 10, make<Node>(test->mutator, 1));
              if (!test->heap.verify().complaints.empty()) return 1;
              auto* const items = reinterpret_cast<Object**>(address_of(array.get()) + 16);
              items[300] = items[10];
              return test->heap.verify().complaints.empty() ? 2 : 0;
            }),
            "exit 0");
}

void collect_a_damaged_heap() {
  HeapOptions options = with_nursery(64 * kKiB);
  options.verify = true;
  TestHeap test(options);
  const Local<Node> old(test.mutator, make<Node>(test.mutator, 1));
  test.heap.collect_minor();
  Object* const young = make<Node>(test.mutator, 5).get();
  *old->left.slot_address() = young;
  test.heap.collect_minor();
}

TEST(Verifier, RunsAtEveryCollectionOnRequest) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(collect_a_damaged_heap(), "verifier found 1 faults before a collection");
  HeapOptions options = with_nursery(64 * kKiB);
  options.verify = true;
  const std::string said = standard_error_of([&] {
    TestHeap test(options);
    const Local<Node> list(test.mutator, make_list(test.mutator, 5000));
    test.heap.collect();
    EXPECT_EQ(check_list(list), 5000U);
  });
  EXPECT_NE(said.find("verifier runs"), std::string::npos) << said;
}

}  // namespace
}  // namespace fallow::test
