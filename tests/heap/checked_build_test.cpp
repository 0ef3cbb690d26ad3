// Misuse that checked builds stop, naming what went wrong and where.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

class CheckedBuild : public ::testing::Test {
 protected:
  void SetUp() override {
    if constexpr (!detail::kChecked) GTEST_SKIP() << "checks are compiled into checked builds only";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }

  static std::string here(int line) { return "checked_build_test.cpp:" + std::to_string(line); }
};

void allocate_until_collection(TestHeap& test) {
  const std::uint64_t before = test.heap.statistics().minor_collections;
  while (test.heap.statistics().minor_collections == before) make<Node>(test.mutator);
}
constexpr int kLineOfTheAllocation = __LINE__ - 2;

TEST_F(CheckedBuild, AStaleRefNamesTheAllocation) {
  TestHeap test(with_nursery(64 * kKiB));
  Ref<Node> stale = make<Node>(test.mutator, 1);
  EXPECT_EQ(stale->id, 1U);
  EXPECT_DEATH(
      {
        allocate_until_collection(test);
        std::_Exit(static_cast<int>(stale->id));
      },
      here(kLineOfTheAllocation));
}

TEST_F(CheckedBuild, EveryUseOfAStaleRefIsFound) {
  TestHeap test(with_nursery(64 * kKiB));
  Local<Node> local(test.mutator, make<Node>(test.mutator, 1));
  Ref<Node> stale = local;
  const char* const kStale = "a Ref was used after a collection";
  test.heap.collect_minor();
  EXPECT_DEATH((void)stale.get(), kStale);
  EXPECT_DEATH((void)(*stale).id, kStale);
  EXPECT_DEATH(local = stale, kStale);
  EXPECT_DEATH(local->left = stale, kStale);
  EXPECT_DEATH((void)(stale == local.get()), kStale);
  EXPECT_DEATH(Local<Node>(test.mutator, stale), kStale);
  EXPECT_DEATH(Global<Node>(test.heap, stale), kStale);
  EXPECT_DEATH(make<Node>(test.mutator, 2U, stale, stale), kStale);
  EXPECT_DEATH(
      {
        for (int i = 0; i < 10'000; ++i) make<Node>(test.mutator, live(stale), 1U);
      },
      kStale);
  // A copy is as stale as the original; a fresh one is not.
  const Ref<Node> copy = stale;
  EXPECT_DEATH((void)copy->id, kStale);
  stale = local;
  EXPECT_EQ(stale->id, 1U);
}

TEST_F(CheckedBuild, FreshRefsAndNullsAreLeftAlone) {
  TestHeap test(with_nursery(64 * kKiB));
  Ref<Node> null;
  Ref<Node> kept = make<Node>(test.mutator, 1);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    make<Node>(test.mutator, live(kept), i);
    ASSERT_EQ(kept->id, 1U);
    ASSERT_TRUE(null == nullptr);
    ASSERT_EQ(null.get(), nullptr);
  }
  EXPECT_GT(test.heap.statistics().minor_collections, 0U);
}

TEST_F(CheckedBuild, OtherHeapsDoNotMakeARefStale) {
  TestHeap test(with_nursery(64 * kKiB));
  TestHeap other(with_nursery(64 * kKiB));
  const Ref<Node> ref = make<Node>(test.mutator, 1);
  other.heap.collect();
  EXPECT_EQ(ref->id, 1U);
}

TEST_F(CheckedBuild, LocalsOutOfOrder) {
  EXPECT_DEATH(
      {
        TestHeap test;
        std::optional<Local<Node>> first;
        std::optional<Local<Node>> second;
        first.emplace(test.mutator);
        second.emplace(test.mutator);
        first.reset();
      },
      "out of order");
  EXPECT_DEATH(
      {
        TestHeap test;
        auto frame = std::make_unique<Frame>(test.mutator, 3);
        const Local<Node> local(test.mutator);
        frame.reset();
      },
      "out of order");
}

TEST_F(CheckedBuild, AnotherThread) {
  const auto in_thread = [](auto&& body) { std::thread(body).join(); };
  TestHeap test;
  EXPECT_DEATH(in_thread([&] { make<Node>(test.mutator); }),
               "make: mutator 'test' belongs to thread");
  EXPECT_DEATH(in_thread([&] { make_array<Node>(test.mutator, 3); }), "belongs to thread");
  EXPECT_DEATH(in_thread([&] { Local<Node> local(test.mutator); }), "belongs to thread");
  EXPECT_DEATH(in_thread([&] { Frame frame(test.mutator, 1); }), "belongs to thread");
  EXPECT_DEATH(in_thread([&] {
                 AllocationCursor cursor(test.mutator);
                 cursor.make<Node>();
               }),
               "belongs to thread");
  EXPECT_DEATH(in_thread([&] { Parked parked(test.mutator); }), "belongs to thread");
}

TEST_F(CheckedBuild, AParkedMutator) {
  TestHeap test;
  EXPECT_DEATH(
      {
        const Parked parked(test.mutator);
        make<Node>(test.mutator);
      },
      "mutator 'test' is parked");
  EXPECT_DEATH(
      {
        const Parked parked(test.mutator);
        Local<Node> local(test.mutator);
      },
      "mutator 'test' is parked");
}

TEST_F(CheckedBuild, UseAfterDetach) {
  Heap heap;
  alignas(Mutator) unsigned char memory[sizeof(Mutator)];
  auto* const mutator = new (memory) Mutator(heap, "gone");
  make<Node>(*mutator);
  EXPECT_DEATH(
      {
        mutator->~Mutator();
        make<Node>(*mutator);
      },
      "detached");
  mutator->~Mutator();
}

struct Allocates : Object {
  explicit Allocates(Mutator& mutator) { make<Node>(mutator); }
  using Fields = FieldList<>;
};

TEST_F(CheckedBuild, AllocationInAConstructor) {
  TestHeap test;
  EXPECT_DEATH(make<Allocates>(test.mutator, test.mutator), "constructor");
}

struct Throws : Object {
  explicit Throws(int value) { throw value; }
  using Fields = FieldList<>;
};

TEST_F(CheckedBuild, AConstructorThatThrewIsOver) {
  TestHeap test;
  EXPECT_THROW(make<Throws>(test.mutator, 1), int);
  EXPECT_EQ(make<Node>(test.mutator, 5)->id, 5U);
}

/// Out of line, so that the compiler does not see through the misuse.
[[gnu::noinline]] void destroy(std::unique_ptr<Mutator>& mutator) { mutator.reset(); }

TEST_F(CheckedBuild, AMutatorDestroyedWhileLocalsExist) {
  EXPECT_DEATH(
      {
        Heap heap;
        auto mutator = std::make_unique<Mutator>(heap, "early");
        const Local<Node> local(*mutator);
        destroy(mutator);
      },
      "mutator 'early' is destroyed while Locals exist");
}

}  // namespace
}  // namespace fallow::test
