// Stores into old arrays, small and carded; copies, moves and fills of ranges.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "fallow/events.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

/// Lengths on both sides of the limit from which arrays have cards, and of the small-object limit.
constexpr std::size_t kLengths[] = {1, 2, 127, 128, 129, 255, 257, 300, 1000, 1021, 1030, 3000};

TEST(ArrayBarrier, OldArraysKeepYoungItems) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    for (const std::size_t length : kLengths) {
      SCOPED_TRACE("length " + std::to_string(length));
      Local<Array<Node>> array(test.mutator, make_array<Node>(test.mutator, length));
      test.heap.collect_minor();
      // Every store alone, so that each card and each end of a card has its own collection.
      const std::size_t step = std::max<std::size_t>(1, length / 40);
      for (std::size_t i = 0; i < length; i += step) {
        put(array, i, make<Node>(test.mutator, i));
        if (i % 2 == 0) test.heap.collect_minor();
      }
      put(array, length - 1, make<Node>(test.mutator, length - 1));
      test.heap.collect_minor();
      for (std::size_t i = 0; i < length; i += step) ASSERT_TRUE(array->get(i)->intact(i));
      ASSERT_TRUE(array->get(length - 1)->intact(length - 1));
      expect_sound(test.heap);
    }
  });
}

TEST(ArrayBarrier, OverwrittenYoungItemsDie) {
  for (const std::size_t length : kLengths) {
    TestHeap test(with_nursery(256 * kKiB));
    Local<Array<Node>> array(test.mutator, make_array<Node>(test.mutator, length));
    test.heap.collect_minor();
    const std::uint64_t before = test.heap.statistics().promoted;
    for (std::uint64_t i = 0; i < 500; ++i) put(array, length / 2, make<Node>(test.mutator, i));
    test.heap.collect_minor();
    EXPECT_EQ(test.heap.statistics().promoted - before, sizeof(Node)) << "length " << length;
    EXPECT_TRUE(array->get(length / 2)->intact(499));
  }
}

TEST(ArrayBarrier, AlternatingStoresDoNotGrowTheRememberedSet) {
  struct LastMinor : EventListener {
    void on_minor(const MinorEvent& event) override { slots = event.remembered_slots; }
    std::size_t slots = 0;
  };
  for (const std::size_t length : {20U, 2000U, 100'000U}) {
    TestHeap test(with_nursery(1 * kMiB));
    LastMinor minor;
    test.heap.add_listener(minor);
    Local<Array<Node>> array(test.mutator, make_array<Node>(test.mutator, length));
    test.heap.collect_minor();
    Local<Node> young(test.mutator, make<Node>(test.mutator, 1));
    const std::size_t committed = test.heap.statistics().committed;
    for (std::size_t i = 0; i < scaled(2'000'000); ++i) {
      array->set(i % 7, young);
      array->set(i % 7, nullptr);
    }
    array->set(3, young);
    EXPECT_LE(test.heap.statistics().committed, committed + 8 * kMiB);
    test.heap.collect_minor();
    EXPECT_LE(minor.slots, 100'000U) << length;
    EXPECT_TRUE(array->get(3)->intact(1));
    test.heap.remove_listener(minor);
    expect_sound(test.heap);
  }
}

/// An array beside a plain vector of the ids that it should hold; 0 stands for null.
struct Checked {
  Checked(TestHeap& test, std::size_t length)
      : array(test.mutator, make_array<Node>(test.mutator, length)), ids(length, 0) {}

  void set_fresh(Mutator& mutator, std::size_t index, std::uint64_t id) {
    put(array, index, make<Node>(mutator, id));
    ids[index] = id;
  }
  void fill(std::size_t first, std::size_t count, const Ref<Node>& value) {
    array->fill(first, count, value);
    std::fill_n(ids.begin() + static_cast<std::ptrdiff_t>(first), count, value ? value->id : 0);
  }
  void copy_from(std::size_t to, const Checked& source, std::size_t from, std::size_t count) {
    array->copy_from(to, source.array, from, count);
    const auto begin = source.ids.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    const auto target = ids.begin() + static_cast<std::ptrdiff_t>(to);
    // As memmove: the direction depends on which side overlaps.
    if (&source == this && to > from) {
      std::copy_backward(begin, end, target + static_cast<std::ptrdiff_t>(count));
    } else {
      std::copy(begin, end, target);
    }
  }
  [[nodiscard]] bool matches() const {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const Ref<Node> node = array->get(i);
      if (ids[i] == 0 ? node != nullptr : node == nullptr || !node->intact(ids[i])) return false;
    }
    return true;
  }

  Local<Array<Node>> array;
  std::vector<std::uint64_t> ids;
};

TEST(ArrayBarrier, CopiesBetweenArraysOfAllAges) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    std::uint64_t id = 1;
    for (const std::size_t from_length : {100U, 128U, 129U, 700U, 1500U}) {
      for (const std::size_t to_length : {90U, 128U, 200U, 1400U}) {
        for (unsigned ages = 0; ages < 4; ++ages) {
          // Bit 0: the source is old, bit 1: the target is old; the items are of both ages.
          Checked source(test, from_length);
          if (ages & 1) test.heap.collect_minor();
          Checked target(test, to_length);
          if (ages & 2) {
            target.set_fresh(test.mutator, 1, id++);
            test.heap.collect_minor();
          }
          for (std::size_t i = 0; i < from_length; i += 3) source.set_fresh(test.mutator, i, id++);
          if (ages == 3) test.heap.collect_minor();
          for (std::size_t i = 1; i < from_length; i += 50) {
            source.set_fresh(test.mutator, i, id++);
          }
          const std::size_t count = std::min(from_length, to_length) - 7;
          target.copy_from(3, source, 5, count);
          source.fill(0, from_length, {});
          test.heap.collect_minor();
          ASSERT_TRUE(target.matches()) << from_length << " to " << to_length << " ages " << ages;
          ASSERT_TRUE(source.matches());
        }
      }
    }
    expect_sound(test.heap);
  });
}

TEST(ArrayBarrier, MovesWithinAnArrayOverlap) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    std::uint64_t id = 1;
    for (const std::size_t length : {8U, 100U, 129U, 600U, 1300U}) {
      Checked array(test, length);
      for (int round = 0; round < 6; ++round) {
        for (std::size_t i = 0; i < length; i += 1 + static_cast<std::size_t>(round)) {
          array.set_fresh(test.mutator, i, id++);
        }
        array.copy_from(0, array, 3, length - 3);
        array.copy_from(5, array, 1, length - 6);
        array.copy_from(2, array, 2, length - 2);
        array.copy_from(length / 2, array, 0, length - length / 2);
        if (round % 2 == 0) test.heap.collect_minor();
        if (round == 3) test.heap.collect();
        ASSERT_TRUE(array.matches()) << "length " << length << " round " << round;
      }
      expect_sound(test.heap);
    }
  });
}

TEST(ArrayBarrier, FillsWithYoungOldAndNull) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Node> old(test.mutator, make<Node>(test.mutator, 1'000'000));
    test.heap.collect_minor();
    std::uint64_t id = 1;
    for (const std::size_t length : kLengths) {
      Checked array(test, length);
      for (int round = 0; round < 8; ++round) {
        const std::size_t first = length * static_cast<std::size_t>(round % 3) / 5;
        const std::size_t count = (length - first) / 2 + 1;
        switch (round % 4) {
          case 0:
            array.fill(first, count, make<Node>(test.mutator, id++));
            break;
          case 1:
            array.fill(first, count, old);
            break;
          case 2:
            array.fill(first, count, {});
            break;
          default:
            array.fill(0, length, make<Node>(test.mutator, id++));
        }
        if (round % 2 == 0 || nursery < 16 * kKiB) test.heap.collect_minor();
        ASSERT_TRUE(array.matches()) << "length " << length << " round " << round;
      }
    }
    expect_sound(test.heap);
  });
}

TEST(ArrayBarrier, RandomOperationsOnSeveralArrays) {
  for_each_nursery_size([](std::size_t nursery) {
    const std::uint64_t seed = seed_or(nursery);
    SCOPED_TRACE("FALLOW_TEST_SEED=" + std::to_string(seed));
    TestHeap test(with_nursery(nursery));
    std::uint64_t state = seed;
    const auto below = [&](std::size_t bound) { return scramble(++state) % bound; };
    Checked small(test, 60);
    Checked middle(test, 129);
    Checked carded(test, 900);
    Checked large(test, 2000);
    Checked* const arrays[] = {&small, &middle, &carded, &large};
    std::uint64_t id = 1;
    for (std::size_t step = 0; step < scaled(4000) * step_multiplier(); ++step) {
      Checked& target = *arrays[below(4)];
      Checked& source = *arrays[below(4)];
      const std::size_t to = below(target.ids.size());
      const std::size_t from = below(source.ids.size());
      const std::size_t room = std::min(target.ids.size() - to, source.ids.size() - from);
      const std::size_t count = below(room + 1);
      switch (below(12)) {
        case 0:
        case 1:
        case 2:
          target.copy_from(to, source, from, count);
          break;
        case 3:
          target.fill(to, count, make<Node>(test.mutator, id++));
          break;
        case 4:
          target.fill(to, count, {});
          break;
        case 5:
          test.heap.collect_minor();
          break;
        case 6:
          if (below(10) == 0) test.heap.collect();
          break;
        default:
          target.set_fresh(test.mutator, to, id++);
      }
      if (step % 64 == 0) {
        for (const Checked* array : arrays) ASSERT_TRUE(array->matches()) << "step " << step;
      }
    }
    expect_sound(test.heap);
  });
}

}  // namespace
}  // namespace fallow::test
