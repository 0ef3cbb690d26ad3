#include <fmt/format.h>

#include "bench/pair_tree.h"
#include "bench/stopwatch.h"
#include "bench/types.h"

namespace fallow::bench {

namespace {

constexpr std::uint64_t kDefaultRounds = 40;

/// Sums what collections report about themselves while it is registered.
class Meter : public EventListener {
 public:
  explicit Meter(Heap& heap) : heap_(heap) {}
  void on_minor(const MinorEvent& event) override {
    ++collections_;
    cpu_ns_ += event.cpu_ns;
    wall_ns_ += event.wall_ns;
    young_ += event.nursery_bytes;
    copied_ += event.surviving_bytes;
  }
  /// One minor collection, measured.
  void collect_minor() {
    heap_.add_listener(*this);
    heap_.collect_minor();
    heap_.remove_listener(*this);
  }

  [[nodiscard]] double collections() const { return static_cast<double>(collections_); }
  [[nodiscard]] double cpu_ns() const { return static_cast<double>(cpu_ns_); }
  [[nodiscard]] Metrics metrics() const {
    const auto copied = static_cast<double>(copied_);
    Metrics metrics = {
        {"us_per_collection", cpu_ns() / collections() * 1e-3},
        {"wall_us_per_collection", static_cast<double>(wall_ns_) / collections() * 1e-3}};
    if (copied_ != 0) {
      metrics.emplace_back("survival_percent", copied / static_cast<double>(young_) * 100);
      metrics.emplace_back("gb_per_s_copied", copied / cpu_ns());
      metrics.emplace_back("ns_per_byte_copied", cpu_ns() / copied);
    }
    return metrics;
  }

 private:
  Heap& heap_;
  std::uint64_t collections_ = 0;
  std::uint64_t cpu_ns_ = 0;
  std::uint64_t wall_ns_ = 0;
  std::uint64_t young_ = 0;
  std::uint64_t copied_ = 0;
};

constexpr int kTreeDepth = 9;
constexpr std::size_t kTreeBytes = pair_tree_nodes(kTreeDepth) * sizeof(Pair);

/// Whether tree number i of an even selection of `percent` in a hundred is kept.
bool is_kept(std::size_t i, std::size_t percent) {
  return (i + 1) * percent / 100 != i * percent / 100;
}

/// Fills most of the nursery with trees of 1 023 nodes, keeps `percent` of them, collects. Again
/// and again; when `recycled`, the old space frees the round before and reuses its cells, else
/// every survivor goes to memory that was never touched.
Metrics survival(std::size_t percent, bool recycled, std::uint64_t rounds) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const std::size_t trees = heap.options().nursery_bytes * 9 / 10 / kTreeBytes;
  const Local<Array<Pair>> kept(mutator, make_array<Pair>(mutator, trees));
  // Without recycling, the survivors of all rounds stay alive, so that no collection frees cells.
  const Local<Array<Array<Pair>>> all(mutator, make_array<Array<Pair>>(mutator, rounds));
  Meter meter(heap);
  for (std::uint64_t round = 0; round < rounds + 1; ++round) {
    kept->fill(0, trees, Ref<Pair>());
    if (recycled) {
      heap.collect();
    } else {
      heap.collect_minor();
    }
    for (std::size_t i = 0; i < trees; ++i) {
      const Ref<Pair> tree = pair_tree(mutator, kTreeDepth);
      if (is_kept(i, percent)) kept->set(i, tree);
    }
    // The first round only brings the old space to its size.
    if (round == 0) {
      heap.collect_minor();
      continue;
    }
    meter.collect_minor();
    if (!recycled) {
      const Ref<Array<Pair>> copy = make_array<Pair>(mutator, trees);
      copy->copy_from(0, kept.get(), 0, trees);
      all->set(round - 1, copy);
    }
  }
  return meter.metrics();
}

/// Garbage fills the nursery; nothing survives and nothing is remembered.
Metrics zero(std::uint64_t rounds) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const std::size_t cells = heap.options().nursery_bytes / sizeof(Cell) * rounds;
  Meter meter(heap);
  heap.add_listener(meter);
  for (std::size_t i = 0; i < cells; ++i) keep(make<Cell>(mutator).get());
  heap.remove_listener(meter);
  return meter.metrics();
}

/// The whole call of collect_minor() on an empty nursery, measured from outside.
Metrics zero_explicit(std::uint64_t rounds) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const auto collections = static_cast<double>(rounds);
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < rounds; ++i) heap.collect_minor();
  const double wall = watch.wall_s();
  return {{"us_per_collection", watch.cpu_s() / collections * 1e6},
          {"wall_us_per_collection", wall / collections * 1e6}};
}

/// So many old objects each refer to the same young one: the cost of looking at their slots.
Metrics remembered(std::size_t slots, std::uint64_t rounds) {
  Heap heap;
  Mutator mutator(heap, "bench");
  Local<Pair> cells(mutator);
  for (std::size_t i = 0; i < slots; ++i) cells = make<Pair>(mutator, cells, nullptr);
  heap.collect();
  Meter meter(heap);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const Local<Pair> young(mutator, make<Pair>(mutator));
    for (Ref<Pair> cell = cells; cell; cell = cell->left) cell->right = young;
    meter.collect_minor();
    for (Ref<Pair> cell = cells; cell; cell = cell->left) cell->right = nullptr;
  }
  const double ns = meter.cpu_ns() / meter.collections();
  return {{"us_per_collection", ns * 1e-3}, {"ns_per_slot", ns / static_cast<double>(slots)}};
}

}  // namespace

std::vector<Row> minor_rows(const Options& options) {
  const std::uint64_t n = options.n != 0 ? options.n : kDefaultRounds;
  std::vector<Row> rows = {
      {"fallow/zero", [n] { return zero(n * 25); }, nullptr},
      {"fallow/zero-explicit", [n] { return zero_explicit(n * 500); }, nullptr}};
  for (const std::size_t percent : {0, 1, 10, 25, 50, 75, 100}) {
    rows.push_back({fmt::format("fallow/survival-{}-recycled", percent),
                    [percent, n] { return survival(percent, true, n); }, nullptr});
  }
  rows.push_back({"fallow/survival-100-fresh", [n] { return survival(100, false, n); }, nullptr});
  for (const std::size_t slots : {1, 1'000'000}) {
    rows.push_back({fmt::format("fallow/remembered-{}", slots),
                    [slots, n] { return remembered(slots, n); }, nullptr});
  }
  return rows;
}

}  // namespace fallow::bench
