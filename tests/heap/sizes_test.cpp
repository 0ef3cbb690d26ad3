// Lengths that no array can have: a typed error, nothing allocated, no collection, a sound heap.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fallow/errors.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

struct Three {
  unsigned char bytes[3];
};
struct Twelve {
  float numbers[3];
};
struct FortyEight {
  double numbers[6];
};

struct ArrayKind {
  std::string name;
  std::size_t item_bytes;
  std::function<void(Mutator&, std::size_t)> make;
};

class Sizes : public ::testing::Test {
 protected:
  Sizes() : test_(with_nursery(64 * kKiB)), kept_(test_.mutator, make_list(test_.mutator, 10)) {
    kinds_ = {
        {"references", 8, [](Mutator& m, std::size_t n) { make_array<Node>(m, n); }},
        {"bytes", 1, [](Mutator& m, std::size_t n) { make_values<Bytes>(m, n); }},
        {"string", 1, [](Mutator& m, std::size_t n) { make_values<String>(m, n); }},
        {"3", 3, [](Mutator& m, std::size_t n) { make_values<ValueArray<Three>>(m, n); }},
        {"8", 8, [](Mutator& m, std::size_t n) { make_values<ValueArray<double>>(m, n); }},
        {"12", 12, [](Mutator& m, std::size_t n) { make_values<ValueArray<Twelve>>(m, n); }},
        {"48", 48, [](Mutator& m, std::size_t n) { make_values<ValueArray<FortyEight>>(m, n); }},
    };
    add_runtime_type("value items of 1", 1,
                     TypeBuilder("runtime").fixed_bytes(32).value_items(1, 8));
    add_runtime_type("value items of 24", 24,
                     TypeBuilder("runtime").fixed_bytes(32).value_items(24, 8));
    add_runtime_type("large value items", 40'000,
                     TypeBuilder("runtime").fixed_bytes(32).value_items(40'000, 8));
    add_runtime_type("reference items", 8,
                     TypeBuilder("runtime").fixed_bytes(32).reference_items(8));
    add_runtime_type("record items", 32,
                     TypeBuilder("runtime").fixed_bytes(32).record_items(32, 8, {0, 16}));
  }

  void add_runtime_type(const std::string& name, std::size_t item_bytes,
                        const TypeBuilder& builder) {
    types_.push_back(builder.build());
    const TypeDescriptor& descriptor = types_.back()->descriptor();
    kinds_.push_back({name, item_bytes, [&descriptor](Mutator& mutator, std::size_t length) {
                        (void)allocate_object(mutator, descriptor, length);
                      }});
  }

  void expect_refused(const ArrayKind& kind, std::size_t length) {
    SCOPED_TRACE(kind.name + ", length " + std::to_string(length));
    const HeapStatistics before = test_.heap.statistics();
    const std::uintptr_t free = detail::MutatorAccess::free(test_.mutator);
    try {
      kind.make(test_.mutator, length);
      ADD_FAILURE() << "no exception";
    } catch (const SizeError& error) {
      EXPECT_EQ(error.length(), length);
      EXPECT_EQ(error.item_bytes(), kind.item_bytes);
      EXPECT_NE(std::string(error.what()).find(std::to_string(length)), std::string::npos)
          << error.what();
    }
    const HeapStatistics after = test_.heap.statistics();
    EXPECT_EQ(detail::MutatorAccess::free(test_.mutator), free);
    EXPECT_EQ(after.allocated, before.allocated);
    EXPECT_EQ(after.large_used, before.large_used);
    EXPECT_EQ(after.old_used, before.old_used);
    EXPECT_EQ(after.committed, before.committed);
    EXPECT_EQ(after.minor_collections, before.minor_collections);
    EXPECT_EQ(after.full_collections, before.full_collections);
  }

  /// Also with Refs to keep, which must not stay on the slot stack.
  void expect_all_refused(std::size_t length) {
    for (const ArrayKind& kind : kinds_) expect_refused(kind, length);
    Object** const top = detail::MutatorAccess::slot_top(test_.mutator);
    Ref<Node> head = kept_;
    EXPECT_THROW(make_array<Node>(test_.mutator, live(head), length), SizeError);
    EXPECT_THROW(make_values<Bytes>(test_.mutator, live(head), length), SizeError);
    EXPECT_EQ(detail::MutatorAccess::slot_top(test_.mutator), top);
  }

  void TearDown() override {
    EXPECT_EQ(check_list(kept_), 10U);
    EXPECT_EQ(expect_sound(test_.heap).objects, 10U);
    test_.heap.collect();
    EXPECT_EQ(expect_sound(test_.heap).objects, 10U);
  }

  TestHeap test_;
  Local<Node> kept_;
  std::vector<std::unique_ptr<const TypeBuilder::Type>> types_;
  std::vector<ArrayKind> kinds_;
};

TEST_F(Sizes, NearTheLargestNumber) {
  for (std::size_t k = 0; k <= 64; ++k) expect_all_refused(SIZE_MAX - k);
}

TEST_F(Sizes, NegativeNumbersCastToUnsigned) {
  for (const long long length :
       {-1LL, -2LL, -8LL, -16LL, -1000LL, -65536LL, -(1LL << 31), -(1LL << 40), -(1LL << 62)}) {
    expect_all_refused(static_cast<std::size_t>(length));
  }
  for (const int length : {-1, -12345, -2147483647}) {
    expect_all_refused(static_cast<std::size_t>(length));
  }
}

TEST_F(Sizes, AroundPowersOfTwo) {
  for (unsigned bit = 47; bit < 64; ++bit) {
    const std::size_t power = std::size_t{1} << bit;
    for (std::size_t k = 0; k <= 32; ++k) {
      expect_all_refused(power - k);
      expect_all_refused(power + k);
    }
  }
}

TEST_F(Sizes, ProductsThatOverflow) {
  for (const ArrayKind& kind : kinds_) {
    // Products just below and above multiples of 2^64: the wrapped result would be tiny.
    for (std::size_t multiple = 1; multiple < 5 && multiple < kind.item_bytes; ++multiple) {
      const std::size_t exact = multiple * (SIZE_MAX / kind.item_bytes) +
                                multiple * (SIZE_MAX % kind.item_bytes + 1) / kind.item_bytes;
      for (std::size_t k = 0; k <= 8; ++k) {
        expect_refused(kind, exact - k);
        expect_refused(kind, exact + k);
      }
    }
  }
}

TEST_F(Sizes, JustBeyondTheLargestObject) {
  for (const ArrayKind& kind : kinds_) {
    const std::size_t first = (kMaxObjectBytes - ArrayBase::kItemsOffset) / kind.item_bytes + 1;
    for (const std::size_t beyond : {0U, 1U, 2U, 100U, 5000U}) {
      expect_refused(kind, first + beyond);
    }
  }
}

TEST_F(Sizes, BelowTheLargestObjectButAboveAllMemory) {
  for (const ArrayKind& kind : kinds_) {
    for (const std::size_t bytes :
         {kMaxObjectBytes / 16, kMaxObjectBytes / 4, kMaxObjectBytes / 2 - kMaxObjectBytes / 64}) {
      const HeapStatistics before = test_.heap.statistics();
      try {
        kind.make(test_.mutator, bytes / kind.item_bytes);
        ADD_FAILURE() << "no exception for " << bytes << " bytes of " << kind.name;
      } catch (const OutOfMemory& error) {
        EXPECT_GE(error.facts().requested_bytes, bytes / kind.item_bytes * kind.item_bytes);
        EXPECT_EQ(error.facts().hard_limit_bytes, 0U);
      }
      EXPECT_EQ(test_.heap.statistics().large_used, before.large_used);
    }
  }
}

TEST_F(Sizes, ItemsOfTypesWithoutItems) {
  const auto type = TypeBuilder("fixed").fixed_bytes(32).build();
  EXPECT_THROW((void)allocate_object(test_.mutator, type->descriptor(), 1), Error);
  EXPECT_THROW((void)allocate_object(test_.mutator, type->descriptor(), SIZE_MAX), Error);
}

}  // namespace
}  // namespace fallow::test
