// Every graph of up to four objects with two fields each, every choice of old and young objects,
// every choice of roots, then a minor collection, a full one, or both: exactly what must survive
// survives, with the right shape.
//
// Graphs that differ only in the numbering of their objects are taken once. Thousands of cases
// share a heap and one collection; what they occupy together tells whether anything survived that
// should not have.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tests/heap/small_graphs.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

struct Case {
  Graph graph;
  std::uint8_t objects;
  std::uint8_t old_mask;
  std::uint8_t root_mask;
};

unsigned reachable_from(const Case& c, unsigned start_mask) {
  unsigned reached = start_mask;
  for (unsigned round = 0; round < c.objects; ++round) {
    for (unsigned object = 0; object < c.objects; ++object) {
      if ((reached >> object & 1) == 0) continue;
      for (unsigned field = 0; field < 2; ++field) {
        const unsigned target = c.graph[2 * object + field];
        if (target < c.objects) reached |= 1U << target;
      }
    }
  }
  return reached;
}

enum class Collection { kMinor, kFull, kMinorThenFull };

class Batch {
 public:
  Batch(TestHeap& test, Collection collection, std::size_t capacity)
      : test_(test), collection_(collection), frame_(test.mutator, capacity * kMaxObjects) {}

  void run(const std::vector<Case>& cases) {
    build(cases);
    const HeapStatistics before = test_.heap.statistics();
    if (collection_ != Collection::kFull) {
      test_.heap.collect_minor();
      const std::uint64_t promoted = test_.heap.statistics().promoted - before.promoted;
      ASSERT_EQ(promoted, young_that_must_survive(cases) * sizeof(Node));
    }
    if (collection_ != Collection::kMinor) test_.heap.collect();
    std::size_t live = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      live += static_cast<std::size_t>(
          __builtin_popcount(reachable_from(cases[i], cases[i].root_mask)));
      ASSERT_TRUE(has_right_shape(cases[i], i)) << describe(cases[i]);
    }
    const VerifyReport report = expect_sound(test_.heap);
    ASSERT_EQ(report.objects, live);
    ASSERT_EQ(report.old_objects, live);
    if (collection_ != Collection::kMinor) {
      ASSERT_EQ(test_.heap.statistics().old_used, live * sizeof(Node));
    }
    clear(cases.size());
  }

 private:
  Object*& slot(std::size_t index, unsigned object) { return frame_[index * kMaxObjects + object]; }
  Node* node(std::size_t index, unsigned object) { return static_cast<Node*>(slot(index, object)); }
  static std::uint64_t id_of(std::size_t index, unsigned object) {
    return index * kMaxObjects + object + 1;
  }

  void make_objects(const std::vector<Case>& cases, bool old) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      for (unsigned object = 0; object < cases[i].objects; ++object) {
        if ((cases[i].old_mask >> object & 1) != (old ? 1 : 0)) continue;
        slot(i, object) = make<Node>(test_.mutator, id_of(i, object)).get();
      }
    }
  }

  void build(const std::vector<Case>& cases) {
    make_objects(cases, true);
    test_.heap.collect_minor();
    const std::uint64_t minors = test_.heap.statistics().minor_collections;
    make_objects(cases, false);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case& c = cases[i];
      for (unsigned field = 0; field < 2 * c.objects; ++field) {
        const unsigned target = c.graph[field];
        if (target >= c.objects) continue;
        Node* const source = node(i, field / 2);
        (field % 2 == 0 ? source->left : source->right) = Ref<Node>(node(i, target));
      }
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
      for (unsigned object = 0; object < cases[i].objects; ++object) {
        if ((cases[i].root_mask >> object & 1) == 0) slot(i, object) = nullptr;
      }
    }
    ASSERT_EQ(test_.heap.statistics().minor_collections, minors)
        << "the young objects must fit into the nursery";
  }

  static std::size_t young_that_must_survive(const std::vector<Case>& cases) {
    std::size_t young = 0;
    for (const Case& c : cases) {
      // To a minor collection every old object is alive.
      const unsigned reached = reachable_from(c, c.root_mask | c.old_mask);
      young += static_cast<std::size_t>(__builtin_popcount(reached & ~unsigned{c.old_mask}));
    }
    return young;
  }

  bool has_right_shape(const Case& c, std::size_t index) {
    std::array<const Node*, kMaxObjects> found{};
    for (unsigned object = 0; object < c.objects; ++object) {
      if ((c.root_mask >> object & 1) != 0) found[object] = node(index, object);
    }
    for (unsigned round = 0; round < c.objects; ++round) {
      for (unsigned object = 0; object < c.objects; ++object) {
        const Node* const source = found[object];
        if (source == nullptr) continue;
        if (!source->intact(id_of(index, object)) || detail::in_nursery(source)) return false;
        for (unsigned field = 0; field < 2; ++field) {
          const Node* const target = (field == 0 ? source->left : source->right).get().get();
          const unsigned expected = c.graph[2 * object + field];
          if ((target == nullptr) != (expected >= c.objects)) return false;
          if (target == nullptr) continue;
          if (found[expected] != nullptr && found[expected] != target) return false;
          found[expected] = target;
        }
      }
    }
    return true;
  }

  void clear(std::size_t count) {
    std::fill_n(frame_.slots(), count * kMaxObjects, nullptr);
    test_.heap.collect();
    ASSERT_EQ(test_.heap.statistics().old_used, 0U);
  }

  static std::string describe(const Case& c) {
    std::string text = "objects " + std::to_string(c.objects) + ", fields";
    for (unsigned field = 0; field < 2 * c.objects; ++field) {
      text += " " + std::to_string(c.graph[field]);
    }
    return text + ", old " + std::to_string(c.old_mask) + ", roots " + std::to_string(c.root_mask);
  }

  TestHeap& test_;
  Collection collection_;
  Frame frame_;
};

class ExhaustiveGraphs : public ::testing::TestWithParam<Collection> {
 protected:
  void check_all(unsigned objects, std::size_t every) {
    constexpr std::size_t kBatch = 8192;
    HeapOptions options = with_nursery(4 * kMiB);
    // Only the collections of this test.
    options.growth_floor_bytes = 64 * kMiB;
    TestHeap test(options);
    Batch batch(test, GetParam(), kBatch);
    std::vector<Case> cases;
    std::size_t number = 0;
    const std::vector<Graph> graphs = canonical_graphs(objects);
    const unsigned masks = 1U << objects;
    for (const Graph& graph : graphs) {
      for (unsigned both = 0; both < masks * masks; ++both) {
        // With more than three objects slow builds take a spread of the cases.
        if (++number % every != 0) continue;
        cases.push_back({graph, static_cast<std::uint8_t>(objects),
                         static_cast<std::uint8_t>(both / masks),
                         static_cast<std::uint8_t>(both % masks)});
        if (cases.size() < kBatch) continue;
        batch.run(cases);
        if (HasFatalFailure()) return;
        cases.clear();
      }
    }
    batch.run(cases);
  }
};

TEST_P(ExhaustiveGraphs, OfOneToThreeObjects) {
  for (unsigned objects = 1; objects <= 3; ++objects) {
    check_all(objects, 1);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ExhaustiveGraphs, OfFourObjects) { check_all(4, detail::kChecked ? 29 : 1); }

INSTANTIATE_TEST_SUITE_P(, ExhaustiveGraphs,
                         ::testing::Values(Collection::kMinor, Collection::kFull,
                                           Collection::kMinorThenFull),
                         [](const auto& parameter) {
                           switch (parameter.param) {
                             case Collection::kMinor:
                               return "Minor";
                             case Collection::kFull:
                               return "Full";
                             default:
                               return "MinorThenFull";
                           }
                         });

}  // namespace
}  // namespace fallow::test
