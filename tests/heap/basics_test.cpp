// Objects stay alive, keep their values and are found again after they have moved.
#include <cstdint>
#include <vector>

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

TEST(Basics, AFreshObjectIsYoungAndConstructed) {
  for_each_nursery_size([](std::size_t bytes) {
    TestHeap test(with_nursery(bytes));
    const Ref<Node> node = make<Node>(test.mutator, 7);
    EXPECT_TRUE(node->intact(7));
    EXPECT_TRUE(node->left == nullptr);
    EXPECT_TRUE(is_young(node));
    EXPECT_EQ(address_of(node) % kObjectGranule, 0U);
  });
}

struct Branches : Object {
  Field<Node> first;
  Field<Node> many[70];
  Field<Node> grid[2][3];
  using Fields = FieldList<&Branches::grid, &Branches::first, &Branches::many>;
};

TEST(Basics, EveryFieldOfAnArrayOfFieldsIsFollowed) {
  TestHeap test(with_nursery(64 * kKiB));
  const Local<Branches> branches(test.mutator, make<Branches>(test.mutator));
  const auto each = [&](auto&& use) {
    std::uint64_t id = 0;
    use(branches->first, id++);
    for (Field<Node>& field : branches->many) use(field, id++);
    for (auto& row : branches->grid) {
      for (Field<Node>& field : row) use(field, id++);
    }
  };
  for (std::uint64_t id = 0; id < 77; ++id) {
    make_list(test.mutator, 2);
    const Local<Node> node(test.mutator, make<Node>(test.mutator, id));
    each([&](Field<Node>& field, std::uint64_t at) {
      if (at == id) field = node;
    });
  }
  test.heap.collect_minor();
  test.heap.collect();
  each([](Field<Node>& field, std::uint64_t id) { EXPECT_TRUE(field->intact(id)) << id; });
  EXPECT_EQ(expect_sound(test.heap).objects, 78U);
}

TEST(Basics, LocalsFollowTheirObjects) {
  for_each_nursery_size([](std::size_t bytes) {
    TestHeap test(with_nursery(bytes));
    Local<Node> first(test.mutator, make<Node>(test.mutator, 1));
    Local<Node> second(test.mutator, make<Node>(test.mutator, 2));
    Local<Node> same(test.mutator, first);
    Local<Node> null(test.mutator);
    first->left = second;
    const std::uintptr_t before = address_of(first.get());
    test.heap.collect_minor();
    EXPECT_NE(address_of(first.get()), before);
    EXPECT_FALSE(is_young(first.get()));
    EXPECT_TRUE(first->intact(1));
    EXPECT_TRUE(second->intact(2));
    EXPECT_TRUE(first == same);
    EXPECT_TRUE(first->left.get() == second.get());
    EXPECT_TRUE(null == nullptr);
    const std::uintptr_t old = address_of(first.get());
    test.heap.collect();
    test.heap.collect_minor();
    EXPECT_EQ(address_of(first.get()), old) << "old objects do not move";
    EXPECT_TRUE(first->left.get() == second.get());
    EXPECT_EQ(expect_sound(test.heap).objects, 2U);
  });
}

TEST(Basics, LiveRefsAreReloaded) {
  for_each_nursery_size([](std::size_t bytes) {
    TestHeap test(with_nursery(bytes));
    Ref<Node> first = make<Node>(test.mutator, 1);
    Ref<Node> second = make<Node>(test.mutator, live(first), 2);
    Ref<Node> third;
    const std::size_t rounds = 2 * bytes / sizeof(Node) + 10;
    for (std::size_t i = 3; i < rounds; ++i) {
      third = make<Node>(test.mutator, live(first, second), i, first, second);
      ASSERT_TRUE(first->intact(i - 2));
      ASSERT_TRUE(second->intact(i - 1));
      ASSERT_TRUE(third->intact(i));
      ASSERT_TRUE(third->left.get() == first);
      first = second;
      second = third;
      // Only two objects are to survive, not the chain of all.
      second->left = nullptr;
      second->right = nullptr;
    }
    EXPECT_GT(test.heap.statistics().minor_collections, 0U);
  });
}

TEST(Basics, ListsAndTreesSurviveWhileTheyGrow) {
  for_each_nursery_size([](std::size_t bytes) {
    TestHeap test(with_nursery(bytes));
    Local<Node> list(test.mutator, make_list(test.mutator, 5000));
    Local<Node> tree(test.mutator, make_tree(test.mutator, 11));
    EXPECT_EQ(check_list(list), 5000U);
    EXPECT_TRUE(check_tree(tree, 11));
    EXPECT_EQ(expect_sound(test.heap).objects, 5000U + 2047U);
    test.heap.collect();
    EXPECT_EQ(check_list(list), 5000U);
    EXPECT_TRUE(check_tree(tree, 11));
    list = nullptr;
    test.heap.collect();
    const VerifyReport report = expect_sound(test.heap);
    EXPECT_EQ(report.objects, 2047U);
    EXPECT_EQ(report.old_objects, 2047U);
    EXPECT_EQ(test.heap.statistics().old_used, 2047U * sizeof(Node));
  });
}

TEST(Basics, CyclesAndSharedObjectsAreCopiedOnce) {
  for_each_nursery_size([](std::size_t bytes) {
    TestHeap test(with_nursery(bytes));
    Local<Node> ring(test.mutator, make<Node>(test.mutator, 0));
    ring->left = ring;
    Local<Node> other(test.mutator, make<Node>(test.mutator, 1));
    ring->right = other;
    other->left = ring;
    other->right = other;
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(ring->left.get() == ring.get());
      EXPECT_TRUE(ring->right.get() == other.get());
      EXPECT_TRUE(other->left.get() == ring.get());
      EXPECT_TRUE(other->right.get() == other.get());
      EXPECT_EQ(expect_sound(test.heap).objects, 2U);
      round == 1 ? test.heap.collect() : test.heap.collect_minor();
    }
    ring = nullptr;
    other = nullptr;
    test.heap.collect();
    EXPECT_EQ(expect_sound(test.heap).objects, 0U);
    EXPECT_EQ(test.heap.statistics().old_used, 0U);
  });
}

TEST(Basics, DeadObjectsAreReusedAndTheHeapStaysBounded) {
  for_each_nursery_size([](std::size_t bytes) {
    HeapOptions options = with_nursery(bytes);
    options.growth_floor_bytes = 1 * kMiB;
    TestHeap test(options);
    Local<Node> kept(test.mutator);
    // A sliding window of live objects, each of which lives long enough to become old.
    Local<Array<Node>> window(test.mutator, make_array<Node>(test.mutator, 2000));
    const std::size_t rounds = scaled(400'000);
    for (std::size_t i = 0; i < rounds; ++i) {
      put(window, i % window->length(), make<Node>(test.mutator, i));
    }
    for (std::size_t i = rounds - 2000; i < rounds; ++i) {
      ASSERT_TRUE(window->get(i % window->length())->intact(i));
    }
    expect_sound(test.heap);
    EXPECT_LE(test.heap.statistics().committed, bytes + 24 * kMiB);
  });
}

struct alignas(16) Aligned : Object {
  explicit Aligned(std::uint64_t value) : words{value, value + 1, value + 2} {}
  Field<Aligned> next;
  std::uint64_t words[3];
  using Fields = FieldList<&Aligned::next>;
};

struct alignas(16) SmallestAligned : Object {
  std::uint64_t word = 0;
  using Fields = FieldList<>;
};

TEST(Basics, SixteenByteAlignmentHoldsYoungAndOld) {
  for_each_nursery_size([](std::size_t bytes) {
    TestHeap test(with_nursery(bytes));
    Local<Aligned> list(test.mutator);
    for (std::uint64_t i = 0; i < 500; ++i) {
      // Objects of 24 bytes in between move the bump pointer off the alignment.
      if (i % 3 != 0) make_string(test.mutator, "12345678");
      Local<Aligned> item(test.mutator, make<Aligned>(test.mutator, i));
      ASSERT_EQ(address_of(item.get()) % 16, 0U);
      ASSERT_EQ(address_of(make<SmallestAligned>(test.mutator)) % 16, 0U);
      item->next = list;
      list = item;
      if (i % 100 == 0) test.heap.collect_minor();
    }
    test.heap.collect();
    std::uint64_t expected = 500;
    for (Ref<Aligned> item = list; item; item = item->next) {
      --expected;
      ASSERT_EQ(address_of(item) % 16, 0U);
      for (std::uint64_t word = 0; word < 3; ++word) ASSERT_EQ(item->words[word], expected + word);
    }
    EXPECT_EQ(expected, 0U);
    expect_sound(test.heap);
  });
}

/// Both links run through trace(), one of them hidden behind a flag.
struct Traced : Object {
  explicit Traced(std::uint64_t node_id) : id(node_id) {}
  void trace(const SlotVisitor& visitor) {
    visitor(first);
    if (has_second) visitor(second);
  }
  Field<Traced> first;
  Field<Traced> second;
  bool has_second = false;
  std::uint64_t id;
};

TEST(Basics, CustomTraceFunctionsSeeTheReferences) {
  for_each_nursery_size([](std::size_t bytes) {
    TestHeap test(with_nursery(bytes));
    Local<Traced> root(test.mutator, make<Traced>(test.mutator, 1));
    root->first = make<Traced>(test.mutator, 2);
    root->second = make<Traced>(test.mutator, 3);
    root->has_second = true;
    test.heap.collect_minor();
    EXPECT_EQ(root->first->id, 2U);
    EXPECT_EQ(root->second->id, 3U);
    EXPECT_EQ(expect_sound(test.heap).objects, 3U);
    root->second = nullptr;
    root->has_second = false;
    root->first = make<Traced>(test.mutator, 4);
    test.heap.collect();
    EXPECT_EQ(root->first->id, 4U);
    EXPECT_EQ(expect_sound(test.heap).objects, 2U);
  });
}

TEST(Basics, CollectionsByAThreadWithoutAMutator) {
  Heap heap(with_nursery(64 * kKiB));
  heap.collect_minor();
  heap.collect();
  EXPECT_EQ(expect_sound(heap).objects, 0U);
  EXPECT_EQ(heap.statistics().mutators, 0U);
  Global<Node> kept(heap);
  {
    Mutator mutator(heap);
    kept = make<Node>(mutator, 5);
    EXPECT_EQ(heap.statistics().mutators, 1U);
  }
  heap.collect_minor();
  heap.collect();
  Mutator mutator(heap);
  EXPECT_TRUE(kept->intact(5));
}

}  // namespace
}  // namespace fallow::test
