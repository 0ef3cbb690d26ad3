// Arrays of references, arrays of values and strings as a program sees them.
#include <cstdint>
#include <string>

#include "fallow/errors.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

TEST(Arrays, StartWithNullsWhateverTheMemoryHeldBefore) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    for (std::size_t length = 0; length < 1200; length += length < 20 ? 1 : 37) {
      // Full of non-null words, then dropped.
      Ref<Bytes> dirt = make_values<Bytes>(test.mutator, 3000);
      fill_pattern(*dirt, length);
      const Ref<Array<Node>> array = make_array<Node>(test.mutator, length);
      ASSERT_EQ(array->length(), length);
      for (std::size_t i = 0; i < length; ++i) ASSERT_TRUE(array->get(i) == nullptr);
    }
    expect_sound(test.heap);
  });
}

TEST(Arrays, HoldTheirItems) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    for (const std::size_t length : {1U, 2U, 127U, 128U, 129U, 256U, 257U, 1100U, 5000U}) {
      Local<Array<Node>> array(test.mutator, make_array<Node>(test.mutator, length));
      for (std::size_t i = 0; i < length; ++i) put(array, i, make<Node>(test.mutator, i));
      test.heap.collect_minor();
      for (std::size_t i = 0; i < length; ++i) ASSERT_TRUE(array->get(i)->intact(i));
      test.heap.collect();
      for (std::size_t i = 0; i < length; ++i) ASSERT_TRUE(array->get_unchecked(i)->intact(i));
      EXPECT_EQ(expect_sound(test.heap).objects, length + 1);
    }
  });
}

TEST(Arrays, RefuseIndicesOutside) {
  TestHeap test;
  Local<Array<Node>> array(test.mutator, make_array<Node>(test.mutator, 10));
  Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
  EXPECT_THROW((void)array->get(10), RangeError);
  EXPECT_THROW(array->set(SIZE_MAX, node), RangeError);
  EXPECT_THROW(array->copy_from(8, array, 0, 3), RangeError);
  EXPECT_THROW(array->copy_from(0, array, 8, 3), RangeError);
  EXPECT_THROW(array->copy_from(1, array, 1, SIZE_MAX), RangeError);
  EXPECT_THROW(array->fill(11, 0, node), RangeError);
  EXPECT_NO_THROW(array->fill(10, 0, node));
  EXPECT_NO_THROW(array->copy_from(10, array, 10, 0));
  for (std::size_t i = 0; i < 10; ++i) EXPECT_TRUE(array->get(i) == nullptr);
  try {
    (void)array->get(42);
    FAIL() << "no exception";
  } catch (const RangeError& error) {
    EXPECT_EQ(error.index(), 42U);
    EXPECT_EQ(error.count(), 1U);
    EXPECT_EQ(error.length(), 10U);
    const std::string text = error.what();
    EXPECT_NE(text.find("42"), std::string::npos) << text;
    EXPECT_NE(text.find("10"), std::string::npos) << text;
  }
  Local<ValueArray<double>> values(test.mutator, make_values<ValueArray<double>>(test.mutator, 3));
  EXPECT_THROW((void)values->get(3), RangeError);
  EXPECT_THROW(values->set(3, 1.0), RangeError);
  const Ref<Array<Node>> empty = make_array<Node>(test.mutator, 0);
  EXPECT_THROW((void)empty->get(0), RangeError);
}

struct Pixel {
  unsigned char red;
  unsigned char green;
  unsigned char blue;
  bool operator==(const Pixel&) const = default;
};
struct Sample {
  double time;
  float value;
  int channel;
  bool operator==(const Sample&) const = default;
};

template <class V, class Make>
void check_values(TestHeap& test, std::size_t length, Make&& value_of) {
  using Values = ValueArray<V>;
  Local<Values> array(test.mutator, make_values<Values>(test.mutator, length));
  for (std::size_t i = 0; i < length; ++i) array->set(i, value_of(i));
  test.heap.collect_minor();
  test.heap.collect();
  ASSERT_EQ(array->length(), length);
  ASSERT_EQ(array->items().size(), length);
  for (std::size_t i = 0; i < length; ++i) ASSERT_TRUE(array->get(i) == value_of(i)) << i;
}

TEST(Arrays, OfValuesOfSeveralSizes) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    for (const std::size_t length : {0U, 1U, 5U, 1000U, 40'000U}) {
      const auto number = [](std::size_t i) { return static_cast<double>(i) / 3; };
      check_values<double>(test, length, number);
      check_values<std::uint16_t>(test, length,
                                  [](std::size_t i) { return static_cast<std::uint16_t>(i * 7); });
      check_values<Pixel>(test, length, [](std::size_t i) {
        const auto part = static_cast<unsigned char>(i);
        return Pixel{part, 2, static_cast<unsigned char>(~part)};
      });
      check_values<Sample>(test, length,
                           [](std::size_t i) { return Sample{1.5, 2.5F, static_cast<int>(i)}; });
    }
    expect_sound(test.heap);
  });
}

TEST(Arrays, OfArrays) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    using Row = Array<ValueArray<int>>;
    Local<Array<Row>> matrix(test.mutator, make_array<Row>(test.mutator, 20));
    for (std::size_t x = 0; x < 20; ++x) {
      put(matrix, x, make_array<ValueArray<int>>(test.mutator, 150));
      for (std::size_t y = 0; y < 150; ++y) {
        const Ref<ValueArray<int>> cell = make_values<ValueArray<int>>(test.mutator, 2);
        cell->set(0, static_cast<int>(x));
        cell->set(1, static_cast<int>(y));
        matrix->get(x)->set(y, cell);
      }
    }
    test.heap.collect();
    for (std::size_t x = 0; x < 20; ++x) {
      for (std::size_t y = 0; y < 150; ++y) {
        ASSERT_EQ(matrix->get(x)->get(y)->get(0), static_cast<int>(x));
        ASSERT_EQ(matrix->get(x)->get(y)->get(1), static_cast<int>(y));
      }
    }
    EXPECT_EQ(expect_sound(test.heap).objects, 1U + 20U + 3000U);
  });
}

TEST(Strings, KeepAnyContent) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    std::string text;
    Local<Array<String>> strings(test.mutator, make_array<String>(test.mutator, 700));
    for (std::size_t i = 0; i < 700; ++i) {
      put(strings, i, make_string(test.mutator, text));
      text.push_back(static_cast<char>(scramble(i)));
      if (i % 97 == 0) text.append(500, '\0');
    }
    test.heap.collect();
    text.clear();
    for (std::size_t i = 0; i < 700; ++i) {
      ASSERT_EQ(strings->get(i)->view(), text);
      text.push_back(static_cast<char>(scramble(i)));
      if (i % 97 == 0) text.append(500, '\0');
    }
    EXPECT_EQ(expect_sound(test.heap).objects, 701U);
  });
}

TEST(Strings, LiveRefsSurviveTheirAllocation) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Ref<Node> node = make<Node>(test.mutator, 3);
    Ref<Array<String>> array = make_array<String>(test.mutator, live(node), 2);
    for (std::size_t i = 0; i < 2 * nursery / 40 + 10; ++i) {
      const Ref<String> text = make_string(test.mutator, live(node, array), "a string of letters");
      array->set(i % 2, text);
      ASSERT_TRUE(node->intact(3));
    }
    EXPECT_EQ(array->get(0)->view(), "a string of letters");
    EXPECT_EQ(array->get(1)->view(), "a string of letters");
  });
}

}  // namespace
}  // namespace fallow::test
