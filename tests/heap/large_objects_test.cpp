// Objects with pages of their own: young and old, dying young, with references.
#include <cstdint>
#include <vector>

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

constexpr std::size_t kLargeSizes[] = {8 * kKiB + 8, 12 * kKiB, 64 * kKiB,      128 * kKiB + 24,
                                       1 * kMiB,     3 * kMiB,  5 * kMiB + 4096};

TEST(LargeObjects, KeepTheirBytesAndTheirPlace) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    for (const std::size_t size : kLargeSizes) {
      Local<Bytes> bytes(test.mutator, make_values<Bytes>(test.mutator, size));
      fill_pattern(*bytes, size);
      const std::uintptr_t before = address_of(bytes.get());
      test.heap.collect_minor();
      EXPECT_EQ(address_of(bytes.get()), before) << "large objects do not move";
      make_garbage(test.mutator, 2 * nursery);
      test.heap.collect();
      EXPECT_EQ(bytes->length(), size);
      EXPECT_TRUE(has_pattern(*bytes, size));
      const VerifyReport report = expect_sound(test.heap);
      EXPECT_EQ(report.objects, 1U);
      EXPECT_GE(report.bytes, size);
    }
  });
}

TEST(LargeObjects, DieInTheNextMinorCollection) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    for (const std::size_t size : kLargeSizes) {
      make_values<Bytes>(test.mutator, size);
      EXPECT_GE(test.heap.statistics().large_used, size);
      test.heap.collect_minor();
      EXPECT_EQ(test.heap.statistics().large_used, 0U) << size;
    }
    EXPECT_EQ(test.heap.statistics().full_collections, 0U);
    expect_sound(test.heap);
  });
}

TEST(LargeObjects, OldOnesDieInTheNextFullCollection) {
  TestHeap test(with_nursery(64 * kKiB));
  Local<Array<Bytes>> table(test.mutator, make_array<Bytes>(test.mutator, 10));
  for (std::size_t i = 0; i < 10; ++i) {
    put(table, i, make_values<Bytes>(test.mutator, 100 * kKiB + i));
    fill_pattern(*table->get(i), i);
  }
  test.heap.collect_minor();
  for (std::size_t i = 0; i < 10; i += 2) table->set(i, nullptr);
  const std::size_t before = test.heap.statistics().large_used;
  test.heap.collect_minor();
  EXPECT_EQ(test.heap.statistics().large_used, before) << "old objects wait for a full collection";
  test.heap.collect();
  EXPECT_EQ(test.heap.statistics().large_used, before / 2);
  for (std::size_t i = 1; i < 10; i += 2) EXPECT_TRUE(has_pattern(*table->get(i), i));
  EXPECT_EQ(expect_sound(test.heap).objects, 6U);
}

TEST(LargeObjects, ManyDyingYoungDoNotGrowTheHeap) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    Local<Bytes> kept(test.mutator);
    const std::size_t rounds = scaled(1500);
    for (std::size_t i = 0; i < rounds; ++i) {
      kept = make_values<Bytes>(test.mutator, 96 * kKiB + i % 7 * 16 * kKiB);
      kept->data()[0] = 1;
    }
    EXPECT_GT(test.heap.statistics().minor_collections, 0U);
    EXPECT_LE(test.heap.statistics().committed, 2 * nursery + 64 * kMiB);
    expect_sound(test.heap);
  });
}

TEST(LargeObjects, WithReferencesYoungAndOld) {
  for_each_nursery_size([](std::size_t nursery) {
    TestHeap test(with_nursery(nursery));
    // Far more references than fit into the smaller nurseries: it stays young for some of the time.
    constexpr std::size_t kLength = 20'000;
    Local<Array<Node>> array(test.mutator, make_array<Node>(test.mutator, kLength));
    for (std::size_t i = 0; i < kLength; i += 10) put(array, i, make<Node>(test.mutator, i));
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < kLength; ++i) {
        if (i % 10 == 0) {
          ASSERT_TRUE(array->get(i)->intact(i));
        } else {
          ASSERT_TRUE(array->get(i) == nullptr);
        }
      }
      EXPECT_EQ(expect_sound(test.heap).objects, kLength / 10 + 1);
      round == 0 ? test.heap.collect_minor() : test.heap.collect();
    }
  });
}

TEST(LargeObjects, YoungOnesReferToEachOther) {
  TestHeap test(with_nursery(32 * kKiB));
  Local<Array<Object>> ring(test.mutator, make_array<Object>(test.mutator, 3000));
  ring->set(0, ring);
  Ref<Array<Object>> next = make_array<Object>(test.mutator, 4000);
  ring->set(2999, next);
  next->set(3999, ring);
  put(ring, 1500, make<Node>(test.mutator, 9));
  test.heap.collect_minor();
  EXPECT_EQ(expect_sound(test.heap).objects, 3U);
  EXPECT_TRUE(ring->get(0) == ring.get());
  EXPECT_TRUE(static_cast<Node*>(ring->get(1500).get())->intact(9));
  const Ref<Array<Object>> found(static_cast<Array<Object>*>(ring->get(2999).get()));
  EXPECT_EQ(found->length(), 4000U);
  EXPECT_TRUE(found->get(3999) == ring.get());
  ring->set(2999, nullptr);
  test.heap.collect();
  EXPECT_EQ(expect_sound(test.heap).objects, 2U);
}

TEST(LargeObjects, GrowOverAFragmentedHeap) {
  TestHeap test(with_nursery(64 * kKiB));
  Local<Array<Bytes>> table(test.mutator, make_array<Bytes>(test.mutator, 400));
  for (std::size_t i = 0; i < 400; ++i) {
    put(table, i, make_values<Bytes>(test.mutator, 40 * kKiB));
    fill_pattern(*table->get(i), i);
  }
  for (std::size_t i = 0; i < 400; i += 2) table->set(i, nullptr);
  test.heap.collect();
  for (std::size_t megabytes = 1; megabytes <= (kSanitized ? 8U : 64U); megabytes *= 2) {
    Local<Bytes> large(test.mutator, make_values<Bytes>(test.mutator, megabytes * kMiB));
    large->data()[0] = 1;
    large->data()[large->length() - 1] = 2;
    test.heap.collect_minor();
    EXPECT_EQ(large->data()[large->length() - 1], 2);
  }
  for (std::size_t i = 1; i < 400; i += 2) EXPECT_TRUE(has_pattern(*table->get(i), i));
  expect_sound(test.heap);
}

}  // namespace
}  // namespace fallow::test
