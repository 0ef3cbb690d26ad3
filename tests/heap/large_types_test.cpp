// C++ types around and above the largest cell: with make and with a cursor, in nurseries in which
// they would fit and others.
#include <algorithm>
#include <array>
#include <cstdint>

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

template <std::size_t Bytes>
struct Sized : Object {
  explicit Sized(std::uint64_t identity) : id(identity) {
    filler.fill(static_cast<unsigned char>(identity));
  }
  [[nodiscard]] bool intact(std::uint64_t expected) const {
    return id == expected && std::all_of(filler.begin(), filler.end(), [&](unsigned char byte) {
             return byte == static_cast<unsigned char>(expected);
           });
  }
  Field<Sized> next;
  std::uint64_t id;
  std::array<unsigned char, Bytes - 24> filler;
  using Fields = FieldList<&Sized::next>;
};

template <std::size_t Bytes>
void check_size(std::size_t nursery) {
  SCOPED_TRACE("type of " + std::to_string(Bytes) + " bytes");
  using Item = Sized<Bytes>;
  static_assert(sizeof(Item) == Bytes);
  constexpr std::uint64_t kCount = 60;
  TestHeap test(with_nursery(nursery));
  Local<Item> list(test.mutator);
  Local<Node> small(test.mutator);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const Ref<Item> item = i % 2 == 0 ? make<Item>(test.mutator, i) : [&] {
      AllocationCursor cursor(test.mutator);
      return cursor.make<Item>(i);
    }();
    item->next = list;
    list = item;
    small = make<Node>(test.mutator, i);
    if (i % 7 == 0) test.heap.collect_minor();
  }
  expect_sound(test.heap);
  test.heap.collect();
  std::uint64_t expected = kCount;
  for (Ref<Item> item = list; item; item = item->next) ASSERT_TRUE(item->intact(--expected));
  EXPECT_EQ(expected, 0U);
  EXPECT_TRUE(small->intact(kCount - 1));
  list = nullptr;
  test.heap.collect();
  EXPECT_EQ(expect_sound(test.heap).objects, 1U);
}

TEST(LargeTypes, AnySizeInAnyNursery) {
  for_each_nursery_size([](std::size_t nursery) {
    check_size<4096>(nursery);
    check_size<8184>(nursery);
    check_size<8192>(nursery);
    check_size<8200>(nursery);
    check_size<9000>(nursery);
    check_size<20'000>(nursery);
    check_size<100'000>(nursery);
    check_size<300'000>(nursery);
  });
}

TEST(LargeTypes, TheDefaultNursery) {
  check_size<8200>(0);
  check_size<20'000>(0);
}

/// Its constructor takes what may be a member of another managed object.
struct Numbered : Object {
  Numbered(std::uint64_t initial, const Ref<Numbered>& rest) : value(initial), tail(rest) {}
  std::uint64_t value;
  Field<Numbered> tail;
  using Fields = FieldList<&Numbered::tail>;
};

TEST(ConstructorArguments, ScalarsOfOtherObjectsAreReadBeforeTheyMove) {
  TestHeap test(with_nursery(4 * kKiB));
  Local<Numbered> list(test.mutator, make<Numbered>(test.mutator, 7U, nullptr));
  for (int i = 0; i < 2000; ++i) {
    list = make<Numbered>(test.mutator, list->value, list);
    AllocationCursor cursor(test.mutator);
    list = cursor.make<Numbered>(list->value, list);
  }
  for (Ref<Numbered> item = list; item; item = item->tail) ASSERT_EQ(item->value, 7U);
}

}  // namespace
}  // namespace fallow::test
