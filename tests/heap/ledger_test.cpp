#include "fallow/ledger.h"

#include <thread>

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

struct Handle : Object {
  static constexpr auto kDestruction = Destruction::kWhenDead;
  explicit Handle(Charge&& owned) : charge(std::move(owned)) {}
  Charge charge;
  char filler[1000];
  using Fields = FieldList<>;
};

Ref<Handle> make_handle(Mutator& mutator, Ledger& ledger, std::size_t bytes) {
  Charge charge = ledger.charge(mutator, bytes);
  return make<Handle>(mutator, std::move(charge));
}

TEST(Ledger, CountsExactlyAndReleasesWithTheOwner) {
  TestHeap test;
  Ledger ledger(test.heap, {.name = "host"});
  Local<Handle> handle(test.mutator, make_handle(test.mutator, ledger, 1000));
  EXPECT_EQ(ledger.charged(), 1000U);
  handle->charge.absorb(ledger.charge(test.mutator, 500));
  EXPECT_EQ(handle->charge.bytes(), 1500U);
  EXPECT_EQ(handle->charge.shrink(200), 200U);
  EXPECT_EQ(ledger.charged(), 1300U);
  test.heap.collect();
  EXPECT_EQ(ledger.charged(), 1300U);
  make_handle(test.mutator, ledger, 7);
  test.heap.collect_minor();
  EXPECT_EQ(ledger.charged(), 1300U);
  handle->charge.release();
  EXPECT_EQ(ledger.charged(), 0U);
  handle = nullptr;
  test.heap.collect();
  EXPECT_EQ(ledger.charged(), 0U);
  EXPECT_EQ(ledger.statistics().peak, 1500U);
}

TEST(Ledger, MinorCollectionsAloneDoForOwnersThatDieYoung) {
  TestHeap test;
  Ledger ledger(test.heap, {.name = "hbm", .hard_limit = 64 * kMiB, .counts_for_heap = false});
  for (std::size_t i = 0; i < scaled(20'000); ++i) make_handle(test.mutator, ledger, 1 * kMiB);
  const LedgerStatistics figures = ledger.statistics();
  EXPECT_LE(figures.peak, 64 * kMiB);
  EXPECT_GT(figures.minor_collections, 0U);
  EXPECT_EQ(figures.full_collections, 0U);
  EXPECT_EQ(test.heap.statistics().full_collections, 0U);
}

TEST(Ledger, AloneCausesFullCollections) {
  TestHeap test;
  Ledger ledger(test.heap, {.name = "host"});
  const Local<Array<Handle>> all(test.mutator, make_array<Handle>(test.mutator, 16));
  for (std::size_t i = 0; i < scaled(8000); ++i) {
    put(all, i % 16, make_handle(test.mutator, ledger, 1 * kMiB));
  }
  EXPECT_GT(test.heap.statistics().full_collections, 0U);
  EXPECT_LE(ledger.statistics().peak, 1024 * kMiB);
}

TEST(Ledger, TheHardLimitCollectsThenAsksThenFails) {
  TestHeap test;
  Ledger ledger(test.heap, {.name = "hbm", .hard_limit = 10 * kMiB, .counts_for_heap = false});
  const Local<Array<Handle>> all(test.mutator, make_array<Handle>(test.mutator, 10));
  // Old garbage of the whole limit: a full collection has to find it.
  for (std::size_t i = 0; i < 10; ++i) put(all, i, make_handle(test.mutator, ledger, 1 * kMiB));
  test.heap.collect();
  for (std::size_t i = 0; i < 10; ++i) all->set(i, nullptr);
  put(all, 0, make_handle(test.mutator, ledger, 6 * kMiB));
  EXPECT_GE(ledger.statistics().full_collections, 1U);

  struct Cache : PressureResponder {
    PressureOutcome respond(const PressureInfo& info) override {
      ++calls;
      EXPECT_EQ(info.level, PressureLevel::kHard);
      EXPECT_EQ(info.bytes_wanted, 1 * kMiB);
      held.release();
      return PressureOutcome::done();
    }
    Charge held;
    int calls = 0;
  } cache;
  cache.held = ledger.charge(test.mutator, 2 * kMiB);
  ledger.add_responder(cache);
  put(all, 1, make_handle(test.mutator, ledger, 3 * kMiB));
  EXPECT_EQ(cache.calls, 1);
  EXPECT_EQ(ledger.charged(), 9 * kMiB);
  ledger.remove_responder(cache);
  try {
    static_cast<void>(ledger.charge(test.mutator, 2 * kMiB));
    FAIL() << "there is no room";
  } catch (const LedgerFull& full) {
    EXPECT_EQ(full.charged(), 9 * kMiB);
    EXPECT_EQ(full.requested(), 2 * kMiB);
    EXPECT_EQ(full.hard_limit(), 10 * kMiB);
    EXPECT_NE(std::string(full.what()).find("hbm"), std::string::npos);
  }
  EXPECT_THROW(static_cast<void>(ledger.charge(test.mutator, SIZE_MAX)), LedgerFull);
  EXPECT_EQ(ledger.charged(), 9 * kMiB);
  EXPECT_EQ(ledger.statistics().failures, 2U);
}

TEST(Ledger, TheSoftLimitAsksButDoesNotFail) {
  TestHeap test;
  Ledger ledger(test.heap, {.name = "host", .soft_limit = 4 * kMiB});
  struct Counter : PressureResponder {
    PressureOutcome respond(const PressureInfo& info) override {
      EXPECT_EQ(info.level, PressureLevel::kSoft);
      ++calls;
      return PressureOutcome::done();
    }
    int calls = 0;
  } counter;
  ledger.add_responder(counter);
  std::vector<Charge> charges;
  for (int i = 0; i < 8; ++i) charges.push_back(ledger.charge(test.mutator, 1 * kMiB));
  EXPECT_EQ(ledger.charged(), 8 * kMiB);
  EXPECT_GE(counter.calls, 1);
  ledger.remove_responder(counter);
}

TEST(Ledger, ChargesMayOutliveLedgerAndHeap) {
  Charge survivor;
  {
    TestHeap test;
    Ledger first(test.heap, {.name = "first"});
    Ledger second(test.heap, {.name = "second"});
    survivor = first.charge(test.mutator, 10);
    EXPECT_FALSE(survivor.absorb(second.charge(test.mutator, 5)));
    EXPECT_EQ(second.charged(), 0U);
    const Local<Handle> handle(test.mutator, make_handle(test.mutator, second, 20));
    EXPECT_EQ(second.charged(), 20U);
  }
  EXPECT_EQ(survivor.bytes(), 10U);
}

TEST(LedgerThreads, TotalsStayExact) {
  const Watchdog watchdog(200);
  Heap heap(with_nursery(256 * kKiB));
  Ledger ledger(heap, {.name = "host", .hard_limit = 256 * kMiB});
  const auto work = [&](std::uint64_t seed) {
    Mutator mutator(heap);
    platform::SplitMix64 random(seed);
    const Local<Array<Handle>> all(mutator, make_array<Handle>(mutator, 16));
    for (std::size_t i = 0; i < scaled(10'000); ++i) {
      put(all, random.next() % 16, make_handle(mutator, ledger, random.next() % (2 * kMiB)));
      const Ref<Handle> other = all->get(random.next() % 16);
      if (other) other->charge.shrink(random.next() % kMiB);
    }
  };
  std::thread other([&] { work(1); });
  work(2);
  other.join();
  Mutator mutator(heap);
  heap.collect();
  EXPECT_EQ(ledger.charged(), 0U);
  EXPECT_LE(ledger.statistics().peak, 256 * kMiB);
}

}  // namespace
}  // namespace fallow::test
