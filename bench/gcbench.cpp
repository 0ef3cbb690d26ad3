#include "bench/gcbench.h"

#include <algorithm>
#include <stdexcept>

#include "bench/gcbench_heap.h"
#include "bench/peers/peers.h"
#include "bench/stopwatch.h"
#include "bench/types.h"

namespace fallow::bench {

namespace {

/// Two references and two integers, as in the C original: 32 bytes with the header.
struct Node : Object {
  Node() = default;
  Node(const Ref<Node>& first, const Ref<Node>& second) : left(first), right(second) {}
  Field<Node> left;
  Field<Node> right;
  int i = 0;
  int j = 0;
  using Fields = FieldList<&Node::left, &Node::right>;
};

/// Rooting with Locals only.
struct WithLocals {
  static void top_down(Mutator& mutator, int depth, const Local<Node>& node) {
    if (depth <= 0) return;
    node->left = make<Node>(mutator);
    node->right = make<Node>(mutator);
    const Local<Node> left(mutator, node->left);
    top_down(mutator, depth - 1, left);
    const Local<Node> right(mutator, node->right);
    top_down(mutator, depth - 1, right);
  }
  static Ref<Node> bottom_up(Mutator& mutator, int depth) {
    if (depth <= 0) return make<Node>(mutator);
    const Local<Node> left(mutator, bottom_up(mutator, depth - 1));
    const Local<Node> right(mutator, bottom_up(mutator, depth - 1));
    return make<Node>(mutator, left, right);
  }
};

/// Locals only where a call stands between, Refs named at the allocation elsewhere.
struct WithLive {
  static void top_down(Mutator& mutator, int depth, const Local<Node>& node) {
    Ref<Node> parent = node;
    top_down(mutator, depth, parent);
  }
  static void top_down(Mutator& mutator, int depth, Ref<Node> node) {
    if (depth <= 0) return;
    node->left = make<Node>(mutator, live(node));
    node->right = make<Node>(mutator, live(node));
    const Local<Node> parent(mutator, node);
    top_down(mutator, depth - 1, parent->left.get());
    top_down(mutator, depth - 1, parent->right.get());
  }
  static Ref<Node> bottom_up(Mutator& mutator, int depth) {
    if (depth <= 0) return make<Node>(mutator);
    const Local<Node> left(mutator, bottom_up(mutator, depth - 1));
    Ref<Node> right = bottom_up(mutator, depth - 1);
    return make<Node>(mutator, live(right), left, right);
  }
};

template <class Rooting>
void run_on(Mutator& mutator) {
  using namespace gcbench;  // NOLINT(google-build-using-namespace)
  keep(Rooting::bottom_up(mutator, kStretchDepth).get());
  const Local<Node> long_lived(mutator, make<Node>(mutator));
  Rooting::top_down(mutator, kLongLivedDepth, long_lived);
  const Local<ValueArray<double>> array(mutator,
                                        make_values<ValueArray<double>>(mutator, kArraySize));
  for (int i = 1; i < kArraySize / 2; ++i) array->data()[i] = 1.0 / i;
  for (int depth = kMinDepth; depth <= kMaxDepth; depth += 2) {
    for (int i = 0; i < iterations(depth); ++i) {
      const Local<Node> tree(mutator, make<Node>(mutator));
      Rooting::top_down(mutator, depth, tree);
    }
    for (int i = 0; i < iterations(depth); ++i) keep(Rooting::bottom_up(mutator, depth).get());
  }
  if (!long_lived->left || array->data()[1000] != 1.0 / 1000) {
    throw std::runtime_error("GCBench lost a live object");
  }
}

template <class Rooting>
Metrics measure_heap(const HeapOptions& options, std::uint64_t repetitions) {
  Heap heap(options);
  Mutator mutator(heap, "gcbench");
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < repetitions; ++i) run_on<Rooting>(mutator);
  Metrics metrics = {{"wall_s", watch.wall_s()}, {"cpu_s", watch.process_cpu_s()}};
  const HeapStatistics figures = heap.statistics();
  metrics.emplace_back("peak_rss_mib", peak_rss_mib());
  metrics.emplace_back("pause_p50_us", microseconds(figures.minor_wall.p50_ns));
  metrics.emplace_back("pause_max_us",
                       microseconds(std::max(figures.minor_wall.max_ns, figures.full_wall.max_ns)));
  metrics.emplace_back("minor_collections", static_cast<double>(figures.minor_collections));
  metrics.emplace_back("full_collections", static_cast<double>(figures.full_collections));
  return metrics;
}

}  // namespace

Metrics measure_gcbench_with_live(const HeapOptions& options) {
  return measure_heap<WithLive>(options, 1);
}

Row plain_gcbench_row(const std::string& name, std::uint64_t repetitions, bool (*run)()) {
  return {name,
          [run, repetitions] {
            const Stopwatch watch;
            for (std::uint64_t i = 0; i < repetitions; ++i) {
              if (!run()) throw std::runtime_error("GCBench lost a live object");
            }
            return Metrics{{"wall_s", watch.wall_s()},
                           {"cpu_s", watch.process_cpu_s()},
                           {"peak_rss_mib", peak_rss_mib()}};
          },
          nullptr};
}

std::vector<Row> gcbench_rows(const Options& options) {
  const std::uint64_t n = options.n != 0 ? options.n : 1;
  std::vector<Row> rows = {
      {"live", [n] { return measure_heap<WithLive>(HeapOptions::from_environment(), n); }, nullptr},
      {"local", [n] { return measure_heap<WithLocals>(HeapOptions::from_environment(), n); },
       nullptr},
  };
  for (Row& row : peer_gcbench_rows(n)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace fallow::bench
