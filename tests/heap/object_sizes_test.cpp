// Objects of every size, in particular around the boundaries of the size classes.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "fallow/detail/size_classes.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

constexpr std::size_t kLargestSmall = detail::kMaxSmallBytes;

/// Lengths of byte arrays such that the objects have every size up to beyond the largest cell.
std::vector<std::size_t> all_lengths() {
  std::vector<std::size_t> lengths;
  for (std::size_t length = 0; length <= kLargestSmall + 600; length += 8)
    lengths.push_back(length);
  for (std::size_t length = 1; length < 300; length += 3) lengths.push_back(length);
  return lengths;
}

TEST(ObjectSizes, ArraysOfEverySizeKeepTheirBytes) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    const std::vector<std::size_t> lengths = all_lengths();
    Local<Array<Bytes>> table(test.mutator, make_array<Bytes>(test.mutator, lengths.size()));
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const Ref<Bytes> bytes = make_values<Bytes>(test.mutator, lengths[i]);
      ASSERT_EQ(bytes->length(), lengths[i]);
      ASSERT_EQ(address_of(bytes) % 8, 0U);
      fill_pattern(*bytes, i);
      table->set(i, bytes);
    }
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        ASSERT_EQ(table->get(i)->length(), lengths[i]);
        ASSERT_TRUE(has_pattern(*table->get(i), i)) << "length " << lengths[i];
      }
      EXPECT_EQ(expect_sound(test.heap).objects, lengths.size() + 1);
      round == 0 ? test.heap.collect_minor() : test.heap.collect();
    }
  });
}

TEST(ObjectSizes, FreedCellsOfEveryClassAreFilledAgain) {
  // Large enough that the size alone decides where an object goes.
  TestHeap test(with_nursery(1 * kMiB));
  const std::vector<std::size_t> lengths = all_lengths();
  Local<Array<Bytes>> table(test.mutator, make_array<Bytes>(test.mutator, lengths.size()));
  std::size_t used = 0;
  for (std::uint64_t round = 0; round < 6; ++round) {
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      // Every other object is replaced, by turns.
      if (round != 0 && i % 2 != round % 2) continue;
      const Ref<Bytes> bytes = make_values<Bytes>(test.mutator, lengths[i]);
      fill_pattern(*bytes, i + round * 10'000);
      table->set(i, bytes);
    }
    test.heap.collect();
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const std::uint64_t written = round == 0 || i % 2 == round % 2 ? round : round - 1;
      ASSERT_TRUE(has_pattern(*table->get(i), i + written * 10'000)) << lengths[i];
    }
    const HeapStatistics statistics = test.heap.statistics();
    const std::size_t now = statistics.old_used + statistics.large_used;
    if (round == 0) used = now;
    EXPECT_EQ(now, used) << "the same objects need the same memory";
    expect_sound(test.heap);
  }
}

/// A C++ type of exactly `Size` bytes with references in its first and last words.
template <std::size_t Size>
struct Sized : Object {
  static_assert(Size % 8 == 0 && Size >= 24);
  explicit Sized(std::uint64_t id) {
    for (std::size_t i = 0; i < std::size(words); ++i) words[i] = scramble(id + i);
  }
  [[nodiscard]] bool intact(std::uint64_t id) const {
    for (std::size_t i = 0; i < std::size(words); ++i) {
      if (words[i] != scramble(id + i)) return false;
    }
    return true;
  }
  Field<Node> first;
  std::uint64_t words[Size == 24 ? 1 : (Size - 24) / 8];
  Field<Node> last;
  using Fields = FieldList<&Sized::first, &Sized::last>;
};

/// Whether an object and what it refers to keep their contents through collections. Many sizes
/// instantiate this: no test macros in here.
template <std::size_t Size>
bool survives(TestHeap& test) {
  Local<Sized<Size>> object(test.mutator, make<Sized<Size>>(test.mutator, Size));
  object->first = make<Node>(test.mutator, 1);
  object->last = make<Node>(test.mutator, 2);
  bool intact = true;
  for (int round = 0; round < 3; ++round) {
    intact = intact && object->intact(Size) && object->first->intact(1) && object->last->intact(2);
    round == 1 ? test.heap.collect() : test.heap.collect_minor();
  }
  object->first = make<Node>(test.mutator, 3);
  object->last = make<Node>(test.mutator, 4);
  test.heap.collect_minor();
  return intact && object->first->intact(3) && object->last->intact(4);
}

void expect_survival(std::size_t size, bool survived) {
  EXPECT_TRUE(survived) << "object of " << size << " bytes";
}

template <std::size_t Size>
void check_sized(TestHeap& test) {
  expect_survival(Size, survives<Size>(test));
}

/// One granule below, at, and one granule above a cell size. Of the larger classes every fourth
/// will do: arrays cover all sizes, and each type costs compile time.
template <std::size_t Class>
void check_around_cell(TestHeap& test) {
  if constexpr (Class < detail::kLinearClasses || Class % 4 == 2) {
    check_sized<detail::kCellBytes[Class] - 8>(test);
    check_sized<detail::kCellBytes[Class]>(test);
    check_sized<detail::kCellBytes[Class] + 8>(test);
  }
}

template <std::size_t... Steps>
void check_cell_boundaries(TestHeap& test, std::index_sequence<Steps...>) {
  (check_around_cell<Steps + 2>(test), ...);
}

TEST(ObjectSizes, FixedTypesAroundSizeClasses) {
  for (const std::size_t nursery : {16 * kKiB, 1 * kMiB}) {
    TestHeap test(with_nursery(nursery));
    check_cell_boundaries(test, std::make_index_sequence<detail::kSizeClassCount - 2>());
    expect_sound(test.heap);
  }
}

TEST(ObjectSizes, FixedTypesBeyondTheLargestCell) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    check_sized<kLargestSmall + 16>(test);
    check_sized<4 * kKiB>(test);
    check_sized<16 * kKiB>(test);
    check_sized<64 * kKiB + 8>(test);
    check_sized<512 * kKiB>(test);
    expect_sound(test.heap);
  });
}

struct Empty : Object {
  using Fields = FieldList<>;
};
struct OneByte : Object {
  explicit OneByte(unsigned char initial) : value(initial) {}
  unsigned char value;
  using Fields = FieldList<>;
};

TEST(ObjectSizes, TheSmallestObjectsHaveDistinctAddresses) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Frame frame(test.mutator, 300);
    for (std::size_t i = 0; i < 300; i += 3) {
      frame[i] = make<Empty>(test.mutator).get();
      frame[i + 1] = make<OneByte>(test.mutator, static_cast<unsigned char>(i)).get();
      frame[i + 2] = make_string(test.mutator, "").get();
    }
    test.heap.collect_minor();
    test.heap.collect();
    std::vector<std::uintptr_t> addresses;
    for (std::size_t i = 0; i < 300; ++i) {
      addresses.push_back(reinterpret_cast<std::uintptr_t>(frame[i]));
      if (i % 3 == 1) {
        EXPECT_EQ(static_cast<OneByte*>(frame[i])->value, static_cast<unsigned char>(i - 1));
      }
    }
    std::sort(addresses.begin(), addresses.end());
    for (std::size_t i = 1; i < addresses.size(); ++i) {
      EXPECT_GE(addresses[i], addresses[i - 1] + kMinimumObjectBytes);
    }
    EXPECT_EQ(expect_sound(test.heap).objects, 300U);
  });
}

}  // namespace
}  // namespace fallow::test
