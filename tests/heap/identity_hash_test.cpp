#include "fallow/identity_hash.h"

#include <algorithm>

#include "fallow/finalizer.h"
#include "fallow/pin.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

TEST(IdentityHash, StaysThroughCollections) {
  TestHeap test;
  const std::size_t count = scaled(20'000);
  const Local<Array<Node>> all(test.mutator, make_array<Node>(test.mutator, count));
  std::vector<std::uint64_t> hashes(count);
  for (std::size_t i = 0; i < count; ++i) {
    put(all, i, make<Node>(test.mutator, i));
    // Some are asked when they are old.
    if (i % 3 != 0) hashes[i] = identity_hash(all->get(i));
  }
  for (int round = 0; round < 4; ++round) {
    round % 2 == 0 ? test.heap.collect_minor() : test.heap.collect();
    for (std::size_t i = 0; i < count; ++i) {
      if (round == 0 && i % 3 == 0) hashes[i] = identity_hash(all->get(i));
      ASSERT_EQ(identity_hash(all->get(i)), hashes[i]);
      ASSERT_TRUE(all->get(i)->intact(i));
    }
    expect_sound(test.heap);
  }
}

TEST(IdentityHash, OfObjectsOfAllSizes) {
  TestHeap test(with_nursery(1 * kMiB));
  for (std::size_t bytes = 0; bytes < 9000; bytes += bytes < 200 || bytes > 8100 ? 1 : 97) {
    const Local<Bytes> object(test.mutator, make_values<Bytes>(test.mutator, bytes));
    fill_pattern(*object, bytes);
    const std::uint64_t hash = identity_hash(object.get());
    EXPECT_EQ(identity_hash(object.get()), hash);
    test.heap.collect_minor();
    ASSERT_EQ(identity_hash(object.get()), hash) << bytes;
    ASSERT_TRUE(has_pattern(*object, bytes));
  }
  expect_sound(test.heap);
}

TEST(IdentityHash, IsSpreadOverAllBits) {
  TestHeap test(with_nursery(64 * kKiB));
  constexpr std::size_t kBuckets = 256;
  const std::size_t count = 256 * 256;
  for (const unsigned shift : {0U, 24U, 56U}) {
    std::vector<std::size_t> buckets(kBuckets);
    std::vector<std::uint64_t> seen;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t hash = identity_hash<Node>(make<Node>(test.mutator, i));
      ++buckets[hash >> shift & (kBuckets - 1)];
      seen.push_back(hash);
    }
    double chi = 0;
    for (const std::size_t each : buckets) {
      const double off = static_cast<double>(each) - 256.0;
      chi += off * off / 256.0;
    }
    // 255 degrees of freedom: 360 is beyond five standard deviations.
    EXPECT_LT(chi, 360) << shift;
    std::sort(seen.begin(), seen.end());
    EXPECT_LE(seen.end() - std::unique(seen.begin(), seen.end()), 2) << "of 65,536";
  }
}

TEST(IdentityHash, CostsEightBytesForThoseThatAreAskedYoung) {
  TestHeap test;
  const std::size_t count = 1000;
  const Local<Array<Object>> all(test.mutator, make_array<Object>(test.mutator, count));
  const auto promoted = [&](bool hashed) {
    const std::uint64_t before = test.heap.statistics().promoted;
    for (std::size_t i = 0; i < count; ++i) {
      const Ref<Bytes> bytes = make_values<Bytes>(test.mutator, 16);
      if (hashed) static_cast<void>(identity_hash(bytes));
      all->set(i, bytes);
    }
    test.heap.collect_minor();
    return test.heap.statistics().promoted - before;
  };
  promoted(false);
  const std::uint64_t plain = promoted(false);
  EXPECT_EQ(promoted(true), plain + 8 * count);
}

TEST(Pin, MakesTheAddressStable) {
  TestHeap test;
  const Local<Node> node(test.mutator, make<Node>(test.mutator, 1));
  const std::uint64_t hash = identity_hash(node.get());
  const Local<Weak<Node>> weak(test.mutator, make_weak<Node>(test.mutator, node));
  FinalizerQueue<Node> queue(test.heap);
  queue.add(test.mutator, node);
  const Pin<Node> pin(test.mutator, node);
  const Node* const address = pin.address();
  EXPECT_EQ(node.get().get(), address);
  EXPECT_TRUE(pin->intact(1));
  EXPECT_EQ(identity_hash(node.get()), hash);
  EXPECT_EQ(weak->get(), node.get());
  const std::uint64_t collections = test.heap.statistics().minor_collections;
  const Pin<Node> again(test.mutator, node);
  EXPECT_EQ(again.address(), address);
  EXPECT_EQ(test.heap.statistics().minor_collections, collections);
  test.heap.collect();
  EXPECT_EQ(node.get().get(), address);
  EXPECT_EQ(queue.pending(), 0U);
}

TEST(Pin, KeepsTheObject) {
  TestHeap test;
  auto pin = std::make_unique<Pin<Bytes>>(test.mutator, make_values<Bytes>(test.mutator, 100));
  fill_pattern(*pin->address(), 3);
  test.heap.collect();
  EXPECT_TRUE(has_pattern(*pin->address(), 3));
  pin.reset();
  test.heap.collect();
  EXPECT_EQ(expect_sound(test.heap).objects, 0U);
}

}  // namespace
}  // namespace fallow::test
