// Every graph of up to three old objects, every choice of roots, and every single write that the
// program could do, between any two work items of a marking: what is reachable afterwards survives
// with the right shape, and what was garbage at the start is gone.
#include <cstdint>
#include <vector>

#include "fallow/major_pause.h"
#include "heap/heap_core.h"
#include "tests/heap/small_graphs.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

/// field `field` of object `source` := object `target`; `objects` is null, one more a new object.
struct Write {
  unsigned source;
  unsigned field;
  unsigned target;
};

/// Who does the work items before the write.
enum class Marker : std::uint8_t { kPause, kThread };

class GraphWrites {
 public:
  GraphWrites(unsigned objects, Marker marker)
      : objects_(objects),
        marker_(marker),
        test_(with_nursery(64 * kKiB)),
        core_(detail::HeapAccess::core(test_.heap)),
        by_hand_(test_.heap),
        roots_(test_.mutator, kMaxObjects),
        all_(test_.mutator, kMaxObjects) {}

  /// All writes of a graph with roots, at all moments. Returns the number of cases.
  std::size_t check(const Graph& graph, unsigned root_mask, bool minor_after_write) {
    std::size_t cases = 0;
    const unsigned reachable = reachable_from(graph, root_mask);
    for (unsigned source = 0; source < objects_; ++source) {
      for (unsigned field = 0; field < 2; ++field) {
        for (unsigned target = 0; target < objects_ + 2; ++target) {
          if (!is_in(reachable, source)) continue;
          if (target < objects_ && !is_in(reachable, target)) continue;
          const Write write{source, field, target};
          // One more work item before the write each time, until marking is over before it.
          bool marked_all = false;
          for (unsigned items = 0; !marked_all; ++items, ++cases) {
            marked_all = run(graph, root_mask, write, items, minor_after_write);
            if (::testing::Test::HasFatalFailure()) return cases;
          }
        }
      }
    }
    return cases;
  }

 private:
  static bool is_in(unsigned mask, unsigned object) { return (mask >> object & 1) != 0; }

  [[nodiscard]] unsigned reachable_from(const Graph& graph, unsigned reached) const {
    for (unsigned round = 0; round < objects_; ++round) {
      for (unsigned object = 0; object < objects_; ++object) {
        if (!is_in(reached, object)) continue;
        for (unsigned field = 0; field < 2; ++field) {
          const unsigned target = graph[2 * object + field];
          if (target < objects_) reached |= 1U << target;
        }
      }
    }
    return reached;
  }

  Field<Node>& field_of(unsigned object, unsigned field) {
    auto* const node = static_cast<Node*>(all_[object]);
    return field == 0 ? node->left : node->right;
  }

  void build(const Graph& graph, unsigned root_mask) {
    for (unsigned object = 0; object < objects_; ++object) {
      all_[object] = make<Node>(test_.mutator, object + 1).get();
    }
    test_.heap.collect_minor();
    for (unsigned i = 0; i < 2 * objects_; ++i) {
      if (graph[i] >= objects_) continue;
      field_of(i / 2, i % 2) = Ref<Node>(static_cast<Node*>(all_[graph[i]]));
    }
    for (unsigned object = 0; object < objects_; ++object) {
      roots_[object] = is_in(root_mask, object) ? all_[object] : nullptr;
    }
  }

  bool mark_one() {
    return marker_ == Marker::kPause ? core_.mark_some(1) : core_.full_cycle().mark_beside(1);
  }

  /// True when `items` work items were more than there are.
  bool run(const Graph& graph, unsigned root_mask, const Write& write, unsigned items,
           bool minor_after_write) {
    build(graph, root_mask);
    // The program reaches the objects through its roots; the test needs no roots of its own.
    Object* kept[kMaxObjects];
    std::copy_n(all_.slots(), kMaxObjects, kept);
    std::fill_n(all_.slots(), kMaxObjects, nullptr);
    core_.with_world_stopped([&] { core_.begin_marking(); });
    bool more = true;
    core_.with_world_stopped([&] {
      for (unsigned item = 0; item < items && more; ++item) more = mark_one();
    });
    std::copy_n(kept, kMaxObjects, all_.slots());
    Graph after = graph;
    after[2 * write.source + write.field] = static_cast<std::uint8_t>(write.target);
    Ref<Node> target;
    if (write.target < objects_) target = Ref<Node>(static_cast<Node*>(all_[write.target]));
    if (write.target == objects_ + 1) target = make<Node>(test_.mutator, write.target);
    field_of(write.source, write.field) = target;
    std::fill_n(all_.slots(), kMaxObjects, nullptr);
    if (minor_after_write) test_.heap.collect_minor();
    core_.with_world_stopped([&] {
      while (core_.mark_some(1)) {
      }
      core_.finish_marking();
    });
    check_survivors(graph, root_mask, after);
    std::fill_n(roots_.slots(), kMaxObjects, nullptr);
    test_.heap.collect();
    EXPECT_EQ(test_.heap.statistics().old_used, 0U);
    return !more;
  }

  void check_survivors(const Graph& before, unsigned root_mask, const Graph& after) {
    test_.heap.collect_minor();
    const Node* found[kMaxObjects] = {};
    for (unsigned object = 0; object < objects_; ++object) {
      if (is_in(root_mask, object)) found[object] = static_cast<const Node*>(roots_[object]);
    }
    for (unsigned round = 0; round < objects_; ++round) {
      for (unsigned i = 0; i < 2 * objects_; ++i) {
        const Node* const source = found[i / 2];
        if (source == nullptr) continue;
        ASSERT_TRUE(source->intact(i / 2 + 1));
        const Node* const target = (i % 2 == 0 ? source->left : source->right).get().get();
        ASSERT_EQ(target == nullptr, after[i] == objects_);
        if (target == nullptr) continue;
        if (after[i] > objects_) {
          ASSERT_TRUE(target->intact(after[i]));
        } else {
          found[after[i]] = target;
        }
      }
    }
    // The objects that were garbage when the cycle began do not survive it.
    const auto at_start =
        static_cast<std::size_t>(__builtin_popcount(reachable_from(before, root_mask)));
    ASSERT_LE(test_.heap.statistics().old_used, (at_start + 1) * sizeof(Node));
    if (++checked_ % kCasesPerVerification == 0) expect_sound(test_.heap);
  }

  static constexpr std::size_t kCasesPerVerification = 256;

  const unsigned objects_;
  const Marker marker_;
  std::size_t checked_ = 0;
  TestHeap test_;
  detail::HeapCore& core_;
  MajorPause by_hand_;
  Frame roots_;
  Frame all_;
};

void check_all(unsigned objects, std::size_t every, Marker marker = Marker::kPause) {
  GraphWrites writes(objects, marker);
  std::size_t number = 0;
  std::size_t cases = 0;
  for (const Graph& graph : canonical_graphs(objects)) {
    for (unsigned root_mask = 1; root_mask < 1U << objects; ++root_mask) {
      if (++number % every != 0) continue;
      for (const bool minor : {false, true}) cases += writes.check(graph, root_mask, minor);
      if (::testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << "graph number " << number;
        return;
      }
    }
  }
  EXPECT_GT(cases, 0U);
  ::testing::Test::RecordProperty("cases", static_cast<int>(cases));
}

constexpr bool kSlow = detail::kChecked || kSanitized;

TEST(GraphWrites, OfOneAndTwoObjects) {
  check_all(1, 1);
  check_all(2, kSlow ? 11 : 1);
}

TEST(GraphWrites, WithTheItemsOfAMarkerThread) {
  check_all(1, 1, Marker::kThread);
  check_all(2, kSlow ? 11 : 1, Marker::kThread);
}

// Two million cases would take minutes: a spread of them.
TEST(GraphWrites, OfThreeObjects) { check_all(3, kSlow ? 997 : 23); }

}  // namespace
}  // namespace fallow::test
