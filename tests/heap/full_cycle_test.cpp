// A full collection in slices, with the program running, writing and collecting the nursery between
// any two of them: what was reachable at the start or is reachable at the end survives.
#include <cstdint>
#include <random>

#include "fallow/major_pause.h"
#include "heap/heap_core.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

/// A table of nodes that the program rewires at random.
class Rewired {
 public:
  Rewired(TestHeap& test, std::uint64_t seed)
      : test_(test), random_(seed), table_(test.mutator, make_array<Node>(test.mutator, kNodes)) {
    for (std::size_t i = 0; i < kNodes; ++i) renew(i);
  }

  void write() {
    const std::size_t at = random_() % kNodes;
    switch (random_() % 5) {
      case 0:
        renew(at);
        break;
      case 1:
        // Moves a reference: unlinked at one place before the collector sees the other.
        table_->get(at)->left = table_->get(random_() % kNodes);
        break;
      case 2:
        table_->get(at)->left = nullptr;
        break;
      case 3:
        table_->copy_from(at / 2, table_, at / 3, kNodes / 4);
        break;
      default:
        if (table_->get(at)->left) table_->set(at, table_->get(at)->left.get());
    }
  }

  void expect_intact() {
    for (std::size_t i = 0; i < kNodes; ++i) {
      for (Ref<Node> node = table_->get(i); node; node = node->left) {
        ASSERT_TRUE(node->intact(node->id));
        if (node->left == node || ++steps_ % 64 == 0) break;  // the graph may have cycles
      }
    }
    expect_sound(test_.heap);
  }

 private:
  void renew(std::size_t at) {
    const Ref<Node> node = make<Node>(test_.mutator, ++id_);
    table_->set(at, node);
  }

  static constexpr std::size_t kNodes = 400;

  TestHeap& test_;
  std::mt19937_64 random_;
  Local<Array<Node>> table_;
  std::uint64_t id_ = 0;
  std::uint64_t steps_ = 0;
};

/// One whole cycle in slices of `quantum` references, with `writes` between two slices.
void run_cycle(TestHeap& test, Rewired& graph, std::size_t quantum, int writes) {
  detail::HeapCore& core = detail::HeapAccess::core(test.heap);
  test.heap.collect_minor();
  core.with_world_stopped([&] { core.begin_marking(); });
  for (bool more = true; more;) {
    for (int i = 0; i < writes; ++i) graph.write();
    expect_sound(test.heap);
    core.with_world_stopped([&] {
      more = core.mark_some(quantum);
      if (!more) core.finish_marking();
    });
  }
  graph.expect_intact();
}

class FullCycleInSlices : public testing::TestWithParam<std::size_t> {};

TEST_P(FullCycleInSlices, SurvivesWritesBetweenSlices) {
  const Watchdog watchdog;
  for (const std::size_t nursery : {4 * kKiB, 64 * kKiB}) {
    for (std::uint64_t seed = seed_or(1); seed < seed_or(1) + 4; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      TestHeap test(with_nursery(nursery));
      const MajorPause cycles_are_driven_from_here(test.heap);
      Rewired graph(test, seed);
      for (int cycle = 0; cycle < 6; ++cycle) {
        run_cycle(test, graph, GetParam(), 5);
        for (int i = 0; i < 200; ++i) graph.write();
        graph.expect_intact();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Quanta, FullCycleInSlices, testing::Values(7, 50, 1000));

}  // namespace
}  // namespace fallow::test
