#include <memory>
#include <vector>

#include "bench/stopwatch.h"
#include "bench/types.h"

namespace fallow::bench {

namespace {

constexpr int kRounds = 40;

/// Sums what collections report about themselves.
class Meter : public EventListener {
 public:
  void on_minor(const MinorEvent& event) override {
    ++collections;
    cpu_ns += event.cpu_ns;
    wall_ns += event.wall_ns;
    copied += event.surviving_bytes;
  }
  std::uint64_t collections = 0;
  std::uint64_t cpu_ns = 0;
  std::uint64_t wall_ns = 0;
  std::uint64_t copied = 0;
};

Metrics metrics_of(const Meter& meter) {
  const auto collections = static_cast<double>(meter.collections);
  Metrics metrics = {
      {"us_per_collection", static_cast<double>(meter.cpu_ns) / collections * 1e-3},
      {"wall_us_per_collection", static_cast<double>(meter.wall_ns) / collections * 1e-3}};
  if (meter.copied != 0) {
    metrics.emplace_back("gb_per_s_copied",
                         static_cast<double>(meter.copied) / static_cast<double>(meter.cpu_ns));
    metrics.emplace_back("ns_per_byte_copied",
                         static_cast<double>(meter.cpu_ns) / static_cast<double>(meter.copied));
  }
  return metrics;
}

Ref<Pair> tree(Mutator& mutator, int depth) {
  if (depth == 0) return make<Pair>(mutator);
  const Local<Pair> left(mutator, tree(mutator, depth - 1));
  Ref<Pair> right = tree(mutator, depth - 1);
  return make<Pair>(mutator, live(right), left, right);
}

/// Trees of 1 023 nodes; every hundredth part of them, as chosen, is kept in an array.
constexpr int kTreeDepth = 9;
constexpr std::size_t kTreeBytes = 1023 * sizeof(Pair);

/// Fills most of the nursery with trees, keeps `percent` of them, collects; again and again.
Metrics survival(int percent, bool recycled) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const std::size_t trees = heap.options().nursery_bytes * 9 / 10 / kTreeBytes;
  const Local<Array<Pair>> kept(mutator, make_array<Pair>(mutator, trees));
  Meter meter;
  heap.collect();
  for (int round = 0; round < kRounds; ++round) {
    kept->fill(0, trees, Ref<Pair>());
    // With recycling the old space reuses the cells of the round before, without page faults.
    if (recycled) heap.collect();
    if (recycled && round == 0) continue;
    for (std::size_t i = 0; i < trees; ++i) {
      const Ref<Pair> one = tree(mutator, kTreeDepth);
      if (static_cast<int>(i % 100) < percent) kept->set(i, one);
    }
    heap.add_listener(meter);
    heap.collect_minor();
    heap.remove_listener(meter);
  }
  return metrics_of(meter);
}

/// The nursery fills with garbage; nothing survives and nothing is remembered.
Metrics zero() {
  Heap heap;
  Mutator mutator(heap, "bench");
  const std::size_t cells = heap.options().nursery_bytes / sizeof(Cell) * 1000;
  Meter meter;
  heap.add_listener(meter);
  for (std::size_t i = 0; i < cells; ++i) keep(make<Cell>(mutator).get());
  heap.remove_listener(meter);
  return metrics_of(meter);
}

Metrics zero_explicit() {
  Heap heap;
  Mutator mutator(heap, "bench");
  constexpr int kCollections = 20000;
  const Stopwatch watch;
  for (int i = 0; i < kCollections; ++i) heap.collect_minor();
  return {{"us_per_collection", watch.cpu_s() / kCollections * 1e6},
          {"wall_us_per_collection", watch.wall_s() / kCollections * 1e6}};
}

/// Old cells each receive the same young object: the cost of looking at so many slots.
Metrics remembered(std::size_t slots) {
  Heap heap;
  Mutator mutator(heap, "bench");
  Local<Pair> cells(mutator);
  for (std::size_t i = 0; i < slots; ++i) cells = make<Pair>(mutator, cells, nullptr);
  heap.collect();
  Meter meter;
  for (int round = 0; round < kRounds; ++round) {
    const Local<Pair> young(mutator, make<Pair>(mutator));
    for (Ref<Pair> cell = cells; cell; cell = cell->left) cell->right = young;
    heap.add_listener(meter);
    heap.collect_minor();
    heap.remove_listener(meter);
    for (Ref<Pair> cell = cells; cell; cell = cell->left) cell->right = nullptr;
  }
  return {{"us_per_collection",
           static_cast<double>(meter.cpu_ns) / static_cast<double>(meter.collections) * 1e-3},
          {"ns_per_slot",
           static_cast<double>(meter.cpu_ns) / static_cast<double>(meter.collections * slots)}};
}

}  // namespace

std::vector<Row> minor_rows(const Options& /*options*/) {
  std::vector<Row> rows = {{"zero/allocation", zero, nullptr},
                           {"zero/explicit", zero_explicit, nullptr}};
  for (const int percent : {1, 10, 25, 50, 75, 100}) {
    rows.push_back({"survival-" + std::to_string(percent) + "/recycled",
                    [percent] { return survival(percent, true); }, nullptr});
  }
  rows.push_back({"survival-100/fresh", [] { return survival(100, false); }, nullptr});
  rows.push_back({"remembered/1", [] { return remembered(1); }, nullptr});
  rows.push_back({"remembered/1000000", [] { return remembered(1'000'000); }, nullptr});
  return rows;
}

}  // namespace fallow::bench
