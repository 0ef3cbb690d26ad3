// The allocation cursor: same objects as make(), whatever else happens while it is open.
#include <cstdint>
#include <utility>

#include "fallow/errors.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

struct Small : Object {
  explicit Small(std::uint64_t initial) : value(initial) {}
  std::uint64_t value;
  using Fields = FieldList<>;
};

struct Big : Object {
  explicit Big(std::uint64_t id) : first(id), last(~id) {}
  std::uint64_t first;
  unsigned char filler[5000];
  std::uint64_t last;
  using Fields = FieldList<>;
};

TEST(Cursor, BuildsLists) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Node> list(test.mutator);
    {
      AllocationCursor cursor(test.mutator);
      Ref<Node> head;
      for (std::uint64_t i = 0; i < 20'000; ++i) {
        Ref<Node> node = cursor.make<Node>(live(head), i);
        node->right = head;
        head = node;
      }
      list = head;
    }
    EXPECT_EQ(check_list(list), 20'000U);
    EXPECT_EQ(expect_sound(test.heap).objects, 20'000U);
    test.heap.collect();
    EXPECT_EQ(check_list(list), 20'000U);
  });
}

TEST(Cursor, GivesTheRestBack) {
  TestHeap test(with_nursery(1 * kMiB));
  // Far more cursors than pieces of nursery: each continues where the last one ended.
  std::uintptr_t previous = 0;
  std::size_t neighbours = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    AllocationCursor cursor(test.mutator);
    const std::uintptr_t address = address_of(cursor.make<Small>(i));
    neighbours += address == previous + sizeof(Small) ? 1 : 0;
    previous = address;
  }
  EXPECT_GT(neighbours, 900U);
  EXPECT_EQ(test.heap.statistics().minor_collections, 0U);
}

TEST(Cursor, AnUnusedOneTakesNothing) {
  TestHeap test(with_nursery(64 * kKiB));
  const std::uintptr_t before = address_of(make<Small>(test.mutator, 1U));
  {
    const AllocationCursor cursor(test.mutator);
  }
  EXPECT_EQ(address_of(make<Small>(test.mutator, 1U)), before + sizeof(Small));
}

TEST(Cursor, MixesWithOtherAllocations) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Array<Object>> kept(test.mutator, make_array<Object>(test.mutator, 600));
    AllocationCursor cursor(test.mutator);
    for (std::uint64_t i = 0; i < 600; i += 3) {
      put(kept, i, cursor.make<Small>(i));
      put(kept, i + 1, make<Small>(test.mutator, i + 1));
      const Ref<Bytes> bytes = make_values<Bytes>(test.mutator, i * 17);
      fill_pattern(*bytes, i + 2);
      kept->set(i + 2, bytes);
    }
    for (std::uint64_t i = 0; i < 600; i += 3) {
      ASSERT_EQ(static_cast<Small*>(kept->get(i).get())->value, i);
      ASSERT_EQ(static_cast<Small*>(kept->get(i + 1).get())->value, i + 1);
      ASSERT_TRUE(has_pattern(*static_cast<Bytes*>(kept->get(i + 2).get()), i + 2));
    }
    EXPECT_EQ(expect_sound(test.heap).objects, 601U);
  });
}

TEST(Cursor, SurvivesCollectionsWhileItIsOpen) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Node> list(test.mutator);
    AllocationCursor cursor(test.mutator);
    for (std::uint64_t i = 0; i < 3000; ++i) {
      Ref<Node> head = list;
      const Ref<Node> node = cursor.make<Node>(live(head), i);
      node->right = head;
      list = node;
      if (i % 500 == 100) test.heap.collect_minor();
      if (i % 1000 == 700) test.heap.collect();
      if (i % 100 == 50) test.mutator.poll();
      if (i % 700 == 600) expect_sound(test.heap);
    }
    EXPECT_EQ(check_list(list), 3000U);
  });
}

TEST(Cursor, TwoAtTheSameTime) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Node> first_list(test.mutator);
    Local<Node> second_list(test.mutator);
    {
      AllocationCursor first(test.mutator);
      AllocationCursor second(test.mutator);
      for (std::uint64_t i = 0; i < 4000; ++i) {
        Local<Node> node(test.mutator, first.make<Node>(i));
        node->right = first_list;
        first_list = node;
        if (i % 2 == 0) {
          node = second.make<Node>(i / 2);
          node->right = second_list;
          second_list = node;
        }
      }
    }
    EXPECT_EQ(check_list(first_list), 4000U);
    EXPECT_EQ(check_list(second_list), 2000U);
    EXPECT_EQ(expect_sound(test.heap).objects, 6000U);
  });
}

TEST(Cursor, TakesLargeTypesToo) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Array<Big>> kept(test.mutator, make_array<Big>(test.mutator, 50));
    AllocationCursor cursor(test.mutator);
    for (std::uint64_t i = 0; i < 200; ++i) {
      const Ref<Big> big = cursor.make<Big>(i);
      kept->set(i % 50, big);
      cursor.make<Small>(i);
    }
    for (std::uint64_t i = 150; i < 200; ++i) {
      ASSERT_EQ(kept->get(i % 50)->first, i);
      ASSERT_EQ(kept->get(i % 50)->last, ~i);
    }
    expect_sound(test.heap);
  });
}

struct Huge : Object {
  explicit Huge(std::uint64_t id) : last(id) {}
  unsigned char filler[70'000];
  std::uint64_t last;
  using Fields = FieldList<>;
};

TEST(Cursor, TypesBeyondTheLargestCell) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Huge> kept(test.mutator);
    AllocationCursor cursor(test.mutator);
    for (std::uint64_t i = 0; i < 30; ++i) {
      kept = cursor.make<Huge>(i);
      cursor.make<Small>(i);
      ASSERT_EQ(kept->last, i);
    }
    test.heap.collect();
    EXPECT_EQ(kept->last, 29U);
    EXPECT_EQ(expect_sound(test.heap).objects, 1U);
  });
}

struct Enormous : Object {
  Enormous() {}  // NOLINT: its content does not matter
  unsigned char filler[40 * kMiB];
  using Fields = FieldList<>;
};

TEST(Cursor, AnAllocationThatFailedLeavesItEmpty) {
  HeapOptions options = with_nursery(1 * kMiB);
  options.hard_limit_bytes = 64 * kMiB;
  TestHeap test(options);
  AllocationCursor cursor(test.mutator);
  const Local<Small> kept(test.mutator, cursor.make<Small>(1U));
  const Local<Bytes> most(test.mutator, make_values<Bytes>(test.mutator, 32 * kMiB));
  EXPECT_THROW(cursor.make<Enormous>(), OutOfMemory);
  // What the cursor held has gone back: the next objects of both must not share memory.
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Local<Small> own(test.mutator, cursor.make<Small>(i));
    const Local<Small> other(test.mutator, make<Small>(test.mutator, ~i));
    ASSERT_EQ(own->value, i);
    ASSERT_EQ(other->value, ~i);
  }
  EXPECT_EQ(kept->value, 1U);
  expect_sound(test.heap);
}

}  // namespace
}  // namespace fallow::test
