// Globals, frames and root providers; the slot stack and its limit.
#include <cstdint>
#include <memory>
#include <vector>

#include "fallow/errors.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

TEST(Roots, GlobalsKeepAndFollowTheirObjects) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    std::vector<std::unique_ptr<Global<Node>>> globals;
    for (std::uint64_t i = 0; i < 600; ++i) {
      const Ref<Node> node = make<Node>(test.mutator, i);
      globals.push_back(std::make_unique<Global<Node>>(test.heap, node));
    }
    for (int round = 0; round < 3; ++round) {
      for (std::uint64_t i = 0; i < globals.size(); ++i) ASSERT_TRUE((*globals[i])->intact(i));
      EXPECT_EQ(expect_sound(test.heap).objects, globals.size());
      round == 0 ? test.heap.collect_minor() : test.heap.collect();
    }
    // Cells are given back and used again, in any order.
    for (std::uint64_t i = 0; i < globals.size(); i += 2) globals[i].reset();
    test.heap.collect();
    EXPECT_EQ(expect_sound(test.heap).objects, globals.size() / 2);
    for (std::uint64_t i = 0; i < globals.size(); i += 2) {
      globals[i] = std::make_unique<Global<Node>>(test.heap);
      EXPECT_FALSE(*globals[i]) << "a new Global is null";
      *globals[i] = make<Node>(test.mutator, i + 1000);
    }
    test.heap.collect_minor();
    for (std::uint64_t i = 0; i < globals.size(); ++i) {
      ASSERT_TRUE((*globals[i])->intact(i % 2 == 0 ? i + 1000 : i));
    }
    expect_sound(test.heap);
  });
}

TEST(Roots, AGlobalDestroyedBeforeTheMinorCollectionIsForgotten) {
  TestHeap test(with_nursery(64 * kKiB));
  for (int i = 0; i < 1000; ++i) {
    Global<Node> global(test.heap, make<Node>(test.mutator, 1));
    if (i % 3 == 0) global = nullptr;
  }
  test.heap.collect_minor();
  EXPECT_EQ(expect_sound(test.heap).objects, 0U);
  EXPECT_LE(test.heap.statistics().promoted, sizeof(Node) * 1000);
  test.heap.collect();
  EXPECT_EQ(test.heap.statistics().old_used, 0U);
}

TEST(Roots, FramesStartWithNullsAndFollowTheirObjects) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    for (int round = 0; round < 3; ++round) {
      Frame frame(test.mutator, 50);
      EXPECT_EQ(frame.count(), 50U);
      for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(frame[i], nullptr);
      Local<Node> inner(test.mutator, make<Node>(test.mutator, 99));
      {
        Frame nested(test.mutator, 3);
        nested[1] = make<Node>(test.mutator, 77).get();
        for (std::size_t i = 0; i < 50; i += 2)
          frame.slots()[i] = make<Node>(test.mutator, i).get();
        test.heap.collect_minor();
        EXPECT_TRUE(static_cast<Node*>(nested[1])->intact(77));
        EXPECT_EQ(expect_sound(test.heap).objects, 27U);
      }
      test.heap.collect();
      EXPECT_EQ(expect_sound(test.heap).objects, 26U);
      for (std::size_t i = 0; i < 50; i += 2) EXPECT_TRUE(static_cast<Node*>(frame[i])->intact(i));
      EXPECT_TRUE(inner->intact(99));
    }
    test.heap.collect();
    EXPECT_EQ(expect_sound(test.heap).objects, 0U);
  });
}

struct VectorProvider : RootProvider {
  void visit_roots(const RootVisitor& visitor) override {
    ++visits;
    for (Object*& slot : slots) visitor.visit(&slot);
  }
  std::vector<Object*> slots;
  int visits = 0;
};

TEST(Roots, ProvidersReportTheirSlots) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    VectorProvider first;
    VectorProvider second;
    auto first_scope = std::make_unique<RootProviderScope>(test.mutator, first);
    auto second_scope = std::make_unique<RootProviderScope>(test.mutator, second);
    for (std::uint64_t i = 0; i < 100; ++i) {
      first.slots.push_back(make<Node>(test.mutator, i).get());
      second.slots.push_back(i % 2 == 0 ? nullptr : first.slots.back());
    }
    const int before = first.visits;
    test.heap.collect_minor();
    EXPECT_GT(first.visits, before);
    test.heap.collect();
    for (std::uint64_t i = 0; i < 100; ++i) {
      EXPECT_TRUE(static_cast<Node*>(first.slots[i])->intact(i));
      EXPECT_EQ(second.slots[i], i % 2 == 0 ? nullptr : first.slots[i]);
    }
    EXPECT_EQ(expect_sound(test.heap).objects, 100U);
    // Scopes need not nest.
    first_scope.reset();
    test.heap.collect();
    EXPECT_EQ(expect_sound(test.heap).objects, 50U);
    for (std::uint64_t i = 1; i < 100; i += 2) {
      EXPECT_TRUE(static_cast<Node*>(second.slots[i])->intact(i));
    }
    second_scope.reset();
    test.heap.collect();
    EXPECT_EQ(expect_sound(test.heap).objects, 0U);
  });
}

std::size_t nest_locals(Mutator& mutator, std::size_t depth) {
  Local<Node> local(mutator, make<Node>(mutator, depth));
  const std::size_t reached = depth == 0 ? 0 : nest_locals(mutator, depth - 1);
  EXPECT_TRUE(local->intact(depth));
  return reached + 1;
}

TEST(Roots, ThousandsOfNestedLocals) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    EXPECT_EQ(nest_locals(test.mutator, 5000), 5001U);
    test.heap.collect();
    EXPECT_EQ(expect_sound(test.heap).objects, 0U);
  });
}

TEST(Roots, AFullSlotStackIsAnErrorThatCanBeCaught) {
  HeapOptions options = with_nursery(64 * kKiB);
  options.slot_stack_bytes = 64 * kKiB;
  TestHeap test(options);
  Local<Node> first(test.mutator, make<Node>(test.mutator, 1));
  const std::size_t capacity = test.heap.options().slot_stack_bytes / sizeof(void*);
  for (int round = 0; round < 3; ++round) {
    try {
      nest_locals(test.mutator, capacity);
      FAIL() << "no exception";
    } catch (const SlotStackOverflow& error) {
      EXPECT_EQ(error.capacity(), capacity);
    }
    EXPECT_THROW(Frame(test.mutator, capacity), SlotStackOverflow);
    EXPECT_THROW(Frame(test.mutator, SIZE_MAX / 8 + 2), SlotStackOverflow);
    EXPECT_THROW(Frame(test.mutator, SIZE_MAX), SlotStackOverflow);
    Frame rest(test.mutator, capacity - 1);
    EXPECT_THROW(Local<Node>(test.mutator, first), SlotStackOverflow);
    // live() needs slots on the slow path only, and only there it may find none.
    Ref<Node> kept = first;
    EXPECT_THROW(
        {
          for (std::size_t i = 0; i < 64 * kKiB; ++i) make<Node>(test.mutator, live(kept), i);
        },
        SlotStackOverflow);
    rest[capacity - 2] = first.get().get();
    EXPECT_TRUE(first->intact(1));
  }
  test.heap.collect();
  EXPECT_EQ(expect_sound(test.heap).objects, 1U);
}

struct Throwing : Object {
  explicit Throwing(int value) {
    if (value > 0) throw value;
  }
  Field<Node> link;
  using Fields = FieldList<&Throwing::link>;
};

TEST(Roots, AConstructorThatThrowsLeavesTheHeapSound) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Node> kept(test.mutator, make<Node>(test.mutator, 1));
    Ref<Node> spilled = kept;
    for (int i = 0; i < 3000; ++i) {
      EXPECT_THROW(make<Throwing>(test.mutator, live(spilled), i + 1), int);
      ASSERT_TRUE(spilled == kept.get());
    }
    AllocationCursor cursor(test.mutator);
    for (int i = 0; i < 3000; ++i) EXPECT_THROW(cursor.make<Throwing>(live(spilled), i + 1), int);
    test.heap.collect_minor();
    expect_sound(test.heap);
    EXPECT_TRUE(kept->intact(1));
  });
}

}  // namespace
}  // namespace fallow::test
