// The system refuses memory at every point where it could: what is asked for fails with a typed
// error or succeeds, and the heap goes on.
#include <cstdint>
#include <string>

#include "fallow/errors.h"
#include "platform/virtual_memory.h"
#include "tests/heap/child_process.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

using platform::MemoryFaults;

constexpr int kNoFault = 0;
constexpr int kFaultSurvived = 3;

/// A program that uses every space of a heap. Objects of many sizes stay alive.
class Program {
 public:
  explicit Program(TestHeap& test) : test_(test), table_(test.mutator), list_(test.mutator) {}

  /// Runs until the end or until an allocation throws; may be called again to go on.
  void run() {
    if (table_ == nullptr) table_ = make_array<Bytes>(test_.mutator, kItems);
    for (; next_ < kItems; ++next_) {
      const Ref<Bytes> bytes = make_values<Bytes>(test_.mutator, length_of(next_));
      fill_pattern(*bytes, next_);
      table_->set(next_, bytes);
      AllocationCursor cursor(test_.mutator);
      for (int i = 0; i < 20; ++i) {
        Ref<Node> head = list_;
        const Ref<Node> node = cursor.make<Node>(live(head), list_length_);
        node->right = head;
        list_ = node;
        ++list_length_;
        // Survivors while the cursor holds a piece of the nursery.
        if (i == 10 && next_ % 64 == 0) test_.heap.collect_minor();
      }
      if (next_ % 500 == 499) test_.heap.collect();
    }
  }

  [[nodiscard]] bool intact() {
    if (!test_.heap.verify().complaints.empty()) return false;
    if (check_list(list_) != list_length_) return false;
    for (std::size_t i = 0; i < next_; ++i) {
      if (table_->get(i)->length() != length_of(i) || !has_pattern(*table_->get(i), i))
        return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kItems = 1500;
  static std::size_t length_of(std::size_t item) {
    return item % 97 == 0 ? 20'000 + item * 100 : scramble(item) % 4000;
  }

  TestHeap& test_;
  Local<Array<Bytes>> table_;
  Local<Node> list_;
  std::size_t next_ = 0;
  std::uint64_t list_length_ = 0;
};

/// Runs in a process without a heap; the exit code says what happened.
int run_with_faults(std::size_t nursery) {
  HeapOptions options = with_nursery(nursery);
  options.growth_floor_bytes = 4 * kMiB;
  bool faulted = false;
  try {
    TestHeap test(options);
    Program program(test);
    while (true) {
      try {
        program.run();
        break;
      } catch (const OutOfMemory& error) {
        // Still without memory: everything is as before, and the next attempt fails as well.
        faulted = true;
        if (!error.facts().operating_system_refused) return 10;
        if (!program.intact()) return 11;
        try {
          make_values<Bytes>(test.mutator, 64 * kMiB);
          return 12;
        } catch (const OutOfMemory&) {
        }
        test.heap.collect_minor();
        test.heap.collect();
        MemoryFaults::clear();
      }
    }
    if (!program.intact()) return 13;
    return faulted ? kFaultSurvived : kNoFault;
  } catch (const StartupError&) {
    MemoryFaults::clear();
    TestHeap test(options);
    Program program(test);
    program.run();
    return program.intact() ? kFaultSurvived : 14;
  }
}

class MemoryFaultsAt : public ::testing::TestWithParam<std::size_t> {};

TEST_P(MemoryFaultsAt, EveryCommit) {
  int points = 0;
  for (long n = 0; n < 300; ++n) {
    const std::string ended = run_in_child([&] {
      MemoryFaults::fail_commit_after(n);
      return run_with_faults(GetParam());
    });
    if (ended == "exit 0") break;
    ASSERT_EQ(ended, "exit 3") << "all commits fail after " << n;
    ++points;
  }
  EXPECT_GE(points, 5);
  EXPECT_LT(points, 300);
}

TEST_P(MemoryFaultsAt, EveryReservation) {
  int points = 0;
  for (long n = 0; n < 50; ++n) {
    const std::string ended = run_in_child([&] {
      MemoryFaults::fail_reserve_after(n);
      return run_with_faults(GetParam());
    });
    if (ended == "exit 0") break;
    ASSERT_EQ(ended, "exit 3") << "all reservations fail after " << n;
    ++points;
  }
  EXPECT_GE(points, 2);
  EXPECT_LT(points, 50);
}

INSTANTIATE_TEST_SUITE_P(, MemoryFaultsAt,
                         ::testing::Values(4 * kKiB, 64 * kKiB, 1 * kMiB, 4 * kMiB));

TEST(MemoryFaultsInSlotStacks, AMutatorThatCannotAttach) {
  TestHeap test(with_nursery(64 * kKiB));
  const Local<Node> list(test.mutator, make_list(test.mutator, 100));
  for (int i = 0; i < 10; ++i) {
    MemoryFaults::fail_commit_after(0);
    EXPECT_THROW(Mutator other(test.heap), StartupError);
    MemoryFaults::clear();
    MemoryFaults::fail_reserve_after(0);
    EXPECT_THROW(Mutator other(test.heap), StartupError);
    MemoryFaults::clear();
  }
  EXPECT_EQ(test.heap.statistics().mutators, 1U);
  test.heap.collect();
  EXPECT_EQ(check_list(list), 100U);
}

}  // namespace
}  // namespace fallow::test
