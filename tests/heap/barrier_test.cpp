// The write barrier of fields and globals: whatever an old object is given survives.
#include <cstdint>
#include <vector>

#include "fallow/events.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

/// Remembers the facts of the last minor collection.
struct LastMinor : EventListener {
  void on_minor(const MinorEvent& event) override { last = event; }
  MinorEvent last{};
};

class Barrier : public ::testing::Test {
 protected:
  /// Promotes `local` so that stores into it need the barrier.
  static void make_old(TestHeap& test, Local<Node>& local) {
    test.heap.collect_minor();
    ASSERT_FALSE(is_young(local.get()));
  }
};

TEST_F(Barrier, AnOldFieldKeepsAYoungObject) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Node> old(test.mutator, make<Node>(test.mutator, 1));
    make_old(test, old);
    old->left = make<Node>(test.mutator, 2);
    old->right = make<Node>(test.mutator, 3);
    EXPECT_TRUE(is_young(old->right.get()));
    test.heap.collect_minor();
    EXPECT_TRUE(old->left->intact(2));
    EXPECT_TRUE(old->right->intact(3));
    EXPECT_EQ(expect_sound(test.heap).objects, 3U);
  });
}

TEST_F(Barrier, SequencesOfNullYoungAndOld) {
  // All sequences of five assignments to one field of an old object, with and without a minor
  // collection after each of them.
  TestHeap test(with_nursery(64 * kKiB));
  Local<Node> old(test.mutator, make<Node>(test.mutator, 1));
  Local<Node> other(test.mutator, make<Node>(test.mutator, 2));
  make_old(test, old);
  constexpr unsigned kChoices = 6;
  unsigned sequences = 1;
  for (int i = 0; i < 5; ++i) sequences *= kChoices;
  for (unsigned sequence = 0; sequence < sequences; ++sequence) {
    old->left = nullptr;
    unsigned rest = sequence;
    for (int step = 0; step < 5; ++step, rest /= kChoices) {
      std::uint64_t expected = 0;
      switch (rest % kChoices / 2) {
        case 0:
          old->left = nullptr;
          break;
        case 1:
          old->left = make<Node>(test.mutator, sequence + 10);
          expected = sequence + 10;
          break;
        default:
          old->left = other;
          expected = 2;
      }
      if (rest % 2 == 1) test.heap.collect_minor();
      if (expected == 0) {
        ASSERT_TRUE(old->left == nullptr) << sequence;
      } else {
        ASSERT_TRUE(old->left->intact(expected)) << sequence;
      }
    }
  }
  expect_sound(test.heap);
}

TEST_F(Barrier, AlternatingStoresDoNotGrowTheRememberedSet) {
  TestHeap test(with_nursery(1 * kMiB));
  LastMinor minor;
  test.heap.add_listener(minor);
  Local<Node> old(test.mutator, make<Node>(test.mutator, 1));
  make_old(test, old);
  Local<Node> young(test.mutator, make<Node>(test.mutator, 2));
  const std::size_t committed = test.heap.statistics().committed;
  const std::size_t rounds = scaled(3'000'000);
  for (std::size_t i = 0; i < rounds; ++i) {
    old->left = young;
    old->left = nullptr;
  }
  old->left = young;
  EXPECT_TRUE(is_young(young.get())) << "nothing was allocated";
  EXPECT_LE(test.heap.statistics().committed, committed + 8 * kMiB);
  test.heap.collect_minor();
  EXPECT_LE(minor.last.remembered_slots, 100'000U);
  EXPECT_TRUE(old->left->intact(2));
  // The same with two fields, an old value in between, and no null.
  young = make<Node>(test.mutator, 3);
  Local<Node> kept(test.mutator, old);
  for (std::size_t i = 0; i < rounds; ++i) {
    old->left = young;
    old->right = young;
    old->left = kept;
    old->right = kept;
  }
  old->right = young;
  test.heap.collect_minor();
  EXPECT_LE(minor.last.remembered_slots, 100'000U);
  EXPECT_TRUE(old->right->intact(3));
  EXPECT_TRUE(old->left.get() == old.get());
  test.heap.remove_listener(minor);
  expect_sound(test.heap);
}

TEST_F(Barrier, ManyOldObjectsEachGetAYoungOne) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    constexpr std::uint64_t kCount = 3000;
    Local<Node> list(test.mutator, make_list(test.mutator, kCount));
    for (std::uint64_t round = 1; round <= 3; ++round) {
      test.heap.collect_minor();
      Local<Node> node(test.mutator, list);
      for (std::uint64_t i = 0; i < kCount; ++i, node = node->right) {
        node->left = make<Node>(test.mutator, round * 10'000 + i);
      }
      node = list;
      for (std::uint64_t i = 0; i < kCount; ++i, node = node->right) {
        ASSERT_TRUE(node->left->intact(round * 10'000 + i));
      }
    }
    EXPECT_EQ(expect_sound(test.heap).objects, 2 * kCount);
    test.heap.collect();
    EXPECT_EQ(expect_sound(test.heap).objects, 2 * kCount);
    EXPECT_EQ(test.heap.statistics().old_used, 2 * kCount * sizeof(Node));
  });
}

TEST_F(Barrier, RecordedFieldsOfObjectsThatDie) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    for (std::uint64_t round = 0; round < 50; ++round) {
      Local<Node> dying(test.mutator, make_list(test.mutator, 100));
      test.heap.collect_minor();
      for (Local<Node> node(test.mutator, dying); node != nullptr; node = node->right) {
        node->left = make<Node>(test.mutator, round);
      }
      dying = nullptr;
      // A full collection while slots of dead objects are recorded, then reuse of their cells.
      test.heap.collect();
      Local<Node> reuse(test.mutator, make_list(test.mutator, 200));
      test.heap.collect_minor();
      ASSERT_EQ(check_list(reuse), 200U);
    }
    expect_sound(test.heap);
    test.heap.collect();
    EXPECT_EQ(test.heap.statistics().old_used, 0U);
  });
}

TEST_F(Barrier, AYoungObjectReachedOnlyThroughAChainOfOldOnes) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Node> root(test.mutator, make_list(test.mutator, 50));
    test.heap.collect_minor();
    for (std::uint64_t i = 0; i < 200; ++i) {
      Local<Node> last(test.mutator, root);
      while (last->right) last = last->right;
      last->left = make<Node>(test.mutator, i);
      last->left->left = make<Node>(test.mutator, i + 1);
      if (i % 3 == 0) test.heap.collect_minor();
      if (i % 50 == 49) test.heap.collect();
      last = root;
      while (last->right) last = last->right;
      ASSERT_TRUE(last->left->intact(i));
      ASSERT_TRUE(last->left->left->intact(i + 1));
    }
    EXPECT_EQ(expect_sound(test.heap).objects, 52U);
  });
}

TEST_F(Barrier, GlobalsTakeYoungAndOldObjects) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Global<Node> first(test.heap);
    Global<Node> second(test.heap);
    for (std::uint64_t i = 0; i < 300; ++i) {
      first = make<Node>(test.mutator, i);
      second = nullptr;
      if (i % 2 == 0) second = first.get();
      if (i % 5 == 0) first = nullptr;
      if (i % 7 == 0) test.heap.collect();
      test.heap.collect_minor();
      if (i % 5 != 0) {
        ASSERT_TRUE(first->intact(i));
      } else {
        ASSERT_FALSE(first);
      }
      if (i % 2 == 0) {
        ASSERT_TRUE(second->intact(i));
      } else {
        ASSERT_FALSE(second);
      }
    }
    expect_sound(test.heap);
  });
}

TEST_F(Barrier, CopyingFieldsCopiesReferences) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Node> old(test.mutator, make<Node>(test.mutator, 1));
    make_old(test, old);
    Local<Node> young(test.mutator, make<Node>(test.mutator, 2));
    young->left = make<Node>(test.mutator, 3);
    old->left = young->left;
    old->right = old->left;
    young = nullptr;
    test.heap.collect_minor();
    EXPECT_TRUE(old->left->intact(3));
    EXPECT_TRUE(old->left.get() == old->right.get());
    EXPECT_EQ(expect_sound(test.heap).objects, 2U);
    // Swapping leaves both reachable.
    old->right = make<Node>(test.mutator, 4);
    const Ref<Node> left = old->left;
    old->left = old->right;
    old->right = left;
    test.heap.collect_minor();
    EXPECT_TRUE(old->left->intact(4));
    EXPECT_TRUE(old->right->intact(3));
  });
}

TEST_F(Barrier, OnlyTheRecordedSlotsAreLookedAt) {
  TestHeap test(with_nursery(1 * kMiB));
  LastMinor minor;
  test.heap.add_listener(minor);
  Local<Node> list(test.mutator, make_list(test.mutator, 10'000));
  test.heap.collect_minor();
  test.heap.collect_minor();
  EXPECT_EQ(minor.last.remembered_slots, 0U);
  EXPECT_EQ(minor.last.surviving_bytes, 0U);
  list->left = make<Node>(test.mutator, 1);
  list->right->left = make<Node>(test.mutator, 2);
  test.heap.collect_minor();
  EXPECT_EQ(minor.last.remembered_slots, 2U);
  EXPECT_EQ(minor.last.surviving_bytes, 2 * sizeof(Node));
  test.heap.remove_listener(minor);
}

}  // namespace
}  // namespace fallow::test
