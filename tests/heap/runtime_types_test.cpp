// Types that are described at run time: layouts, items, trace functions, refusals.
#include <cstdint>
#include <memory>
#include <string>

#include "fallow/errors.h"
#include "fallow/jit.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using TypePointer = std::unique_ptr<const TypeBuilder::Type>;

template <class T>
T& word_at(const Ref<Object>& object, std::size_t offset) {
  return *reinterpret_cast<T*>(address_of(object) + offset);
}
Field<Object>& field_at(const Ref<Object>& object, std::size_t offset) {
  return word_at<Field<Object>>(object, offset);
}
std::uint64_t node_id(const Field<Object>& field) {
  return static_cast<Node*>(field.get().get())->id;
}

TEST(RuntimeTypes, FixedObjectsAreZeroedAndTraced) {
  const TypePointer pair =
      TypeBuilder("pair").fixed_bytes(40).reference_at(8).reference_at(32).build();
  EXPECT_EQ(pair->descriptor().name, "pair");
  for_each_nursery_size([&](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    for (std::uint64_t i = 0; i < 500; ++i) {
      fill_pattern(*make_values<Bytes>(test.mutator, 200), i);
      Local<Object> object(test.mutator, allocate_object(test.mutator, pair->descriptor()));
      for (std::size_t offset = 8; offset < 40; offset += 8) {
        ASSERT_EQ(word_at<std::uint64_t>(object, offset), 0U);
      }
      word_at<std::uint64_t>(object, 16) = i;
      // Assigned before the object is looked up: the allocation may move it.
      const Ref<Node> node = make<Node>(test.mutator, i);
      field_at(object, 8) = Ref<Object>(node);
      test.heap.collect_minor();
      field_at(object, 32) = Ref<Object>(make<Node>(test.mutator, i + 1));
      test.heap.collect_minor();
      ASSERT_EQ(node_id(field_at(object, 8)), i);
      ASSERT_EQ(node_id(field_at(object, 32)), i + 1);
      ASSERT_EQ(word_at<std::uint64_t>(object, 16), i);
    }
    expect_sound(test.heap);
  });
}

TEST(RuntimeTypes, EverySizeWithReferencesAtBothEnds) {
  for (const std::size_t nursery : {16 * kKiB, 1 * kMiB}) {
    TestHeap test(with_nursery(nursery));
    for (std::size_t bytes = 24; bytes <= 9 * kKiB; bytes += bytes < 1024 ? 8 : 232) {
      const TypePointer type =
          TypeBuilder("sized").fixed_bytes(bytes).reference_at(8).reference_at(bytes - 8).build();
      Local<Object> object(test.mutator, allocate_object(test.mutator, type->descriptor()));
      field_at(object, 8) = Ref<Object>(make<Node>(test.mutator, bytes));
      field_at(object, bytes - 8) = Ref<Object>(make<Node>(test.mutator, bytes + 1));
      test.heap.collect_minor();
      ASSERT_EQ(node_id(field_at(object, 8)), bytes);
      ASSERT_EQ(node_id(field_at(object, bytes - 8)), bytes + 1);
      if (bytes % 1000 < 8) {
        EXPECT_EQ(expect_sound(test.heap).objects, 3U);
        // The type must outlive every object of it: none may be left for the next sweep.
      }
      object = nullptr;
      test.heap.collect();
    }
  }
}

TEST(RuntimeTypes, ReferencesBeyondTheBitmap) {
  TypeBuilder builder("wide");
  builder.fixed_bytes(8 + 8 * 200);
  for (std::size_t i = 1; i <= 200; i += 3) builder.reference_at(8 * i);
  const TypePointer type = builder.build();
  for_each_nursery_size([&](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Object> object(test.mutator, allocate_object(test.mutator, type->descriptor()));
    for (std::size_t i = 1; i <= 200; ++i) {
      if (i % 3 == 1) {
        field_at(object, 8 * i) = Ref<Object>(make<Node>(test.mutator, i));
      } else {
        word_at<std::uint64_t>(object, 8 * i) = scramble(i);
      }
    }
    test.heap.collect_minor();
    test.heap.collect();
    for (std::size_t i = 1; i <= 200; ++i) {
      if (i % 3 == 1) {
        ASSERT_EQ(node_id(field_at(object, 8 * i)), i);
      } else {
        ASSERT_EQ(word_at<std::uint64_t>(object, 8 * i), scramble(i));
      }
    }
    EXPECT_EQ(expect_sound(test.heap).objects, 68U);
  });
}

TEST(RuntimeTypes, SixteenByteAlignment) {
  const TypePointer type =
      TypeBuilder("aligned").fixed_bytes(40).reference_at(16).align16().build();
  for_each_nursery_size([&](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Object> list(test.mutator);
    for (std::uint64_t i = 0; i < 300; ++i) {
      if (i % 3 != 0) make_string(test.mutator, "12345678");
      const Ref<Object> object = allocate_object(test.mutator, type->descriptor());
      ASSERT_EQ(address_of(object) % 16, 0U);
      word_at<std::uint64_t>(object, 8) = i;
      field_at(object, 16) = list.get();
      list = object;
    }
    test.heap.collect();
    std::uint64_t expected = 300;
    for (Ref<Object> object = list; object; object = field_at(object, 16).get()) {
      ASSERT_EQ(address_of(object) % 16, 0U);
      ASSERT_EQ(word_at<std::uint64_t>(object, 8), --expected);
    }
    EXPECT_EQ(expected, 0U);
    expect_sound(test.heap);
  });
}

TEST(RuntimeTypes, ItemsOfReferences) {
  // Header, one reference, the length, then the items.
  const TypePointer type =
      TypeBuilder("vector").fixed_bytes(24).reference_at(8).reference_items(16).build();
  for_each_nursery_size([&](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    for (const std::size_t length : {0U, 1U, 5U, 128U, 129U, 700U, 5000U}) {
      Local<Object> object(test.mutator, allocate_object(test.mutator, type->descriptor(), length));
      ASSERT_EQ(word_at<std::uint64_t>(object, 16), length);
      for (std::size_t i = 0; i < length; ++i) {
        ASSERT_EQ(word_at<std::uint64_t>(object, 24 + 8 * i), 0U);
      }
      field_at(object, 8) = Ref<Object>(make<Node>(test.mutator, 77));
      for (std::size_t i = 0; i < length; ++i) {
        field_at(object, 24 + 8 * i) = Ref<Object>(make<Node>(test.mutator, i));
      }
      test.heap.collect_minor();
      // Once more, now that the object is old.
      for (std::size_t i = 0; i < length; i += 2) {
        field_at(object, 24 + 8 * i) = Ref<Object>(make<Node>(test.mutator, i + 1));
      }
      test.heap.collect_minor();
      for (int round = 0; round < 2; ++round) {
        ASSERT_EQ(node_id(field_at(object, 8)), 77U);
        for (std::size_t i = 0; i < length; ++i) {
          ASSERT_EQ(node_id(field_at(object, 24 + 8 * i)), i % 2 == 0 ? i + 1 : i);
        }
        test.heap.collect();
      }
      EXPECT_EQ(expect_sound(test.heap).objects, length + 2);
      object = nullptr;
    }
  });
}

TEST(RuntimeTypes, ItemsOfRecordsAndValues) {
  const TypePointer records =
      TypeBuilder("records").fixed_bytes(16).record_items(32, 8, {8, 24}).build();
  const TypePointer values = TypeBuilder("values").fixed_bytes(24).value_items(3, 16).build();
  for_each_nursery_size([&](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    for (const std::size_t length : {0U, 1U, 3U, 40U, 300U, 2000U}) {
      Local<Object> object(test.mutator,
                           allocate_object(test.mutator, records->descriptor(), length));
      Local<Object> plain(test.mutator,
                          allocate_object(test.mutator, values->descriptor(), length));
      for (std::size_t i = 0; i < length; ++i) {
        const std::size_t record = 16 + 32 * i;
        word_at<std::uint64_t>(object, record) = scramble(i);
        field_at(object, record + 8) = Ref<Object>(make<Node>(test.mutator, i));
        word_at<std::uint64_t>(object, record + 16) = scramble(i + 1);
        if (i % 2 == 0) field_at(object, record + 24) = Ref<Object>(make<Node>(test.mutator, ~i));
        for (std::size_t byte = 0; byte < 3; ++byte) {
          word_at<unsigned char>(plain, 24 + 3 * i + byte) = static_cast<unsigned char>(i + byte);
        }
      }
      test.heap.collect_minor();
      test.heap.collect();
      ASSERT_EQ(word_at<std::uint64_t>(object, 8), length);
      ASSERT_EQ(word_at<std::uint64_t>(plain, 16), length);
      for (std::size_t i = 0; i < length; ++i) {
        const std::size_t record = 16 + 32 * i;
        ASSERT_EQ(word_at<std::uint64_t>(object, record), scramble(i));
        ASSERT_EQ(node_id(field_at(object, record + 8)), i);
        ASSERT_EQ(word_at<std::uint64_t>(object, record + 16), scramble(i + 1));
        if (i % 2 == 0) {
          ASSERT_EQ(node_id(field_at(object, record + 24)), ~i);
        } else {
          ASSERT_TRUE(field_at(object, record + 24) == nullptr);
        }
        for (std::size_t byte = 0; byte < 3; ++byte) {
          ASSERT_EQ(word_at<unsigned char>(plain, 24 + 3 * i + byte),
                    static_cast<unsigned char>(i + byte));
        }
      }
      EXPECT_EQ(expect_sound(test.heap).objects, 2 + length + (length + 1) / 2);
    }
  });
}

void trace_second_word(Object* object, const SlotVisitor& visitor) {
  visitor.visit(reinterpret_cast<Object**>(reinterpret_cast<std::uintptr_t>(object) + 16));
}

TEST(RuntimeTypes, TraceFunctions) {
  const TypePointer type =
      TypeBuilder("traced").fixed_bytes(32).custom_trace(&trace_second_word).build();
  for_each_nursery_size([&](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Object> object(test.mutator, allocate_object(test.mutator, type->descriptor()));
    word_at<std::uint64_t>(object, 8) = 0xdead;
    field_at(object, 16) = Ref<Object>(make<Node>(test.mutator, 5));
    test.heap.collect_minor();
    EXPECT_EQ(node_id(field_at(object, 16)), 5U);
    field_at(object, 16) = Ref<Object>(make<Node>(test.mutator, 6));
    test.heap.collect_minor();
    test.heap.collect();
    EXPECT_EQ(node_id(field_at(object, 16)), 6U);
    EXPECT_EQ(word_at<std::uint64_t>(object, 8), 0xdeadU);
    EXPECT_EQ(expect_sound(test.heap).objects, 2U);
  });
}

TEST(RuntimeTypes, RefuseImpossibleLayouts) {
  const auto builder = [] { return TypeBuilder("bad"); };
  EXPECT_THROW((void)builder().fixed_bytes(0).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(7).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(20).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(kMiB + 8).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(SIZE_MAX - 7).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(24).reference_at(0).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(24).reference_at(12).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(24).reference_at(24).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(24).reference_at(SIZE_MAX - 7).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(24).reference_at(8).reference_at(8).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(24).value_items(8, 0).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(24).value_items(8, 24).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(24).value_items(0, 8).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(24).reference_at(8).reference_items(8).build(),
               UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(16).record_items(16, 8, {16}).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(16).record_items(16, 8, {4}).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(16).record_items(16, 8, {8, 8}).build(), UsageError);
  EXPECT_THROW((void)builder().fixed_bytes(16).record_items(12, 8, {0}).build(), UsageError);
  EXPECT_NO_THROW((void)builder().fixed_bytes(8).build());
  EXPECT_NO_THROW((void)builder().fixed_bytes(kMiB).build());
}

TEST(RuntimeTypes, GeneratedCodeAllocatesThroughThePublicLayout) {
  const TypePointer type = TypeBuilder("cell").fixed_bytes(24).reference_at(16).build();
  for_each_nursery_size([&](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    auto* const words = reinterpret_cast<char*>(&test.mutator);
    auto& free = *reinterpret_cast<std::uintptr_t*>(words + jit::kFreeOffset);
    const auto& limit = *reinterpret_cast<std::atomic<std::uintptr_t>*>(words + jit::kLimitOffset);
    Frame frame(test.mutator, 1);
    const std::size_t rounds = 3 * nursery / 24 + 100;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      std::uintptr_t start = free;
      if (start + 24 > limit.load(std::memory_order_relaxed)) {
        start = jit::allocate(test.mutator, 24);
      } else {
        free = start + 24;
      }
      *reinterpret_cast<std::uintptr_t*>(start + jit::kHeaderOffset) =
          reinterpret_cast<std::uintptr_t>(&type->descriptor());
      *reinterpret_cast<std::uint64_t*>(start + 8) = i;
      *reinterpret_cast<Object**>(start + 16) = i % 100 == 0 ? nullptr : frame[0];
      frame[0] = reinterpret_cast<Object*>(start);
      if (free > limit.load(std::memory_order_relaxed)) jit::poll(test.mutator);
    }
    EXPECT_GT(test.heap.statistics().minor_collections, 0U);
    std::uint64_t expected = rounds;
    for (Ref<Object> cell(frame[0]); cell; cell = field_at(cell, 16).get()) {
      ASSERT_EQ(word_at<std::uint64_t>(cell, 8), --expected);
    }
    EXPECT_EQ(expected % 100, 0U);
    expect_sound(test.heap);
  });
}

}  // namespace
}  // namespace fallow::test
