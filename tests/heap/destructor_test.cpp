#include <set>
#include <stdexcept>
#include <thread>

#include "fallow/destruction.h"
#include "fallow/finalizer.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using namespace std::chrono_literals;

/// Owns a number in a set, as it might own a file.
class Owned {
 public:
  Owned(std::multiset<int>& all, int number) : all_(&all), number_(number) { all.insert(number); }
  ~Owned() { all_->erase(all_->find(number_)); }
  [[nodiscard]] int number() const { return number_; }

 private:
  std::multiset<int>* all_;
  int number_;
};

struct Owner : Object {
  static constexpr auto kDestruction = Destruction::kWhenDead;
  Owner(std::multiset<int>& all, int number) : owned(all, number) {
    if (number == 13) throw std::runtime_error("unlucky");
  }
  Owned owned;
  Field<Owner> next;
  using Fields = FieldList<&Owner::next>;
};

struct LargeOwner : Object {
  static constexpr auto kDestruction = Destruction::kWhenDead;
  LargeOwner(std::multiset<int>& all, int number) : owned(all, number) {}
  Owned owned;
  char filler[20'000];
  using Fields = FieldList<>;
};

struct AsideOwner : Object {
  static constexpr auto kDestruction = Destruction::kOnReclaimer;
  explicit AsideOwner(std::atomic<int>& all) : living(&all) { all.fetch_add(1); }
  ~AsideOwner() { living->fetch_sub(1); }
  std::atomic<int>* living;
  using Fields = FieldList<>;
};

TEST(Destructor, YoungAndOldOnceEach) {
  std::multiset<int> living;
  TestHeap test;
  Local<Owner> old(test.mutator, make<Owner>(test.mutator, living, 1));
  test.heap.collect();
  make<Owner>(test.mutator, living, 2);
  make<LargeOwner>(test.mutator, living, 3);
  Local<LargeOwner> large(test.mutator, make<LargeOwner>(test.mutator, living, 4));
  EXPECT_EQ(living.size(), 4U);
  test.heap.collect_minor();
  EXPECT_EQ(living, (std::multiset<int>{1, 4}));
  EXPECT_EQ(old->owned.number(), 1);
  old = nullptr;
  large = nullptr;
  test.heap.collect_minor();
  EXPECT_EQ(living.size(), 2U);
  test.heap.collect();
  EXPECT_TRUE(living.empty());
  EXPECT_EQ(test.heap.statistics().destructors, 4U);
  expect_sound(test.heap);
}

TEST(Destructor, NotForAnObjectWhoseConstructorThrew) {
  std::multiset<int> living;
  TestHeap test;
  EXPECT_THROW(make<Owner>(test.mutator, living, 13), std::runtime_error);
  EXPECT_TRUE(living.empty());
  test.heap.collect();
  EXPECT_EQ(test.heap.statistics().destructors, 0U);
}

TEST(Destructor, OfEverythingAtTheEndOfTheHeap) {
  std::multiset<int> living;
  std::atomic<int> aside{0};
  {
    Heap heap;
    FinalizerQueue<Owner> queue(heap);
    {
      Mutator mutator(heap);
      const Local<Owner> first(mutator, make<Owner>(mutator, living, 1));
      const Local<Owner> second(mutator, make<Owner>(mutator, living, 2));
      queue.add(mutator, second);
      heap.collect();
      queue.add(mutator, make<Owner>(mutator, living, 3));
      heap.collect_minor();
      EXPECT_EQ(queue.pending(), 1U);
      make<Owner>(mutator, living, 4);
      make<AsideOwner>(mutator, aside);
    }
    EXPECT_EQ(living.size(), 4U);
  }
  EXPECT_TRUE(living.empty());
  EXPECT_EQ(aside.load(), 0);
}

/// Whatever a full collection is doing when the heap ends.
TEST(Destructor, OfEverythingWhenTheHeapEndsInTheMiddleOfACycle) {
  for (int steps = 0; steps < 200; ++steps) {
    std::multiset<int> living;
    bool ended = false;
    {
      Heap heap;
      FinalizerQueue<Owner> queue(heap);
      WeakQueue<Owner> weak_queue(heap);
      Mutator mutator(heap);
      {
        Local<Owner> list(mutator);
        for (int i = 0; i < 300; ++i) {
          const Ref<Owner> owner = make<Owner>(mutator, living, i == 13 ? 0 : i);
          owner->next = list;
          list = owner;
          if (i % 3 == 0) queue.add(mutator, list);
          make_weak<Owner>(mutator, list, weak_queue);
        }
        heap.collect_minor();
      }
      for (int i = 0; i < steps && !ended; ++i) ended = heap.step(0ns).cycle_ended;
    }
    ASSERT_TRUE(living.empty()) << steps;
    if (ended) break;
  }
}

TEST(Destructor, WaitsForTheFinalizer) {
  std::multiset<int> living;
  TestHeap test;
  FinalizerQueue<Owner> queue(test.heap);
  for (const bool old : {false, true}) {
    Local<Owner> owner(test.mutator, make<Owner>(test.mutator, living, 1));
    queue.add(test.mutator, owner);
    const Ref<Owner> next = make<Owner>(test.mutator, living, 2);
    owner->next = next;
    if (old) test.heap.collect();
    owner = nullptr;
    test.heap.collect();
    EXPECT_EQ(living.size(), 2U);
    EXPECT_EQ(queue.next(test.mutator)->next->owned.number(), 2);
    test.heap.collect();
    EXPECT_TRUE(living.empty());
  }
}

TEST(Destructor, ManyInSteps) {
  std::multiset<int> living;
  TestHeap test(with_nursery(64 * kKiB));
  const Local<Array<Owner>> all(test.mutator, make_array<Owner>(test.mutator, 2000));
  platform::SplitMix64 random(7);
  for (std::size_t i = 0; i < scaled(60'000); ++i) {
    put(all, random.next() % 2000, make<Owner>(test.mutator, living, 20));
    if (i % 50 == 0) test.heap.step(0ns);
  }
  std::size_t reachable = 0;
  for (std::size_t i = 0; i < 2000; ++i) reachable += all->get(i) ? 1 : 0;
  test.heap.collect();
  EXPECT_EQ(living.size(), reachable);
}

TEST(Destructor, OnTheReclaimerThread) {
  const Watchdog watchdog(100);
  for (const bool reclaimer : {true, false}) {
    std::atomic<int> living{0};
    HeapOptions options;
    options.reclaimer_thread = reclaimer;
    TestHeap test(options);
    for (int i = 0; i < 1000; ++i) make<AsideOwner>(test.mutator, living);
    test.heap.collect_minor();
    while (living.load() != 0) std::this_thread::yield();
    EXPECT_EQ(test.heap.statistics().destructors, 1000U);
  }
}

TEST(Destructor, OfATypeBuiltAtRunTime) {
  static int destroyed = 0;
  const auto type =
      TypeBuilder("handle")
          .fixed_bytes(24)
          .destructor(
              [](Object* object) noexcept { destroyed += reinterpret_cast<int*>(object)[2]; },
              Destruction::kWhenDead)
          .build();
  TestHeap test;
  const Ref<Object> object = allocate_object(test.mutator, type->descriptor());
  reinterpret_cast<int*>(object.get())[2] = 5;
  test.heap.collect_minor();
  EXPECT_EQ(destroyed, 5);
}

struct Curious : Object {
  static constexpr auto kDestruction = Destruction::kWhenDead;
  Field<Node> node;
  ~Curious() { static_cast<void>(node.get()); }
  using Fields = FieldList<&Curious::node>;
};

TEST(DestructorCheckedDeathTest, RefusesManagedMemory) {
  if (!detail::kChecked) GTEST_SKIP() << "only checked builds look";
  EXPECT_DEATH(
      {
        TestHeap test;
        make<Curious>(test.mutator);
        test.heap.collect_minor();
      },
      "destructor of a managed object touches managed memory");
}

}  // namespace
}  // namespace fallow::test
