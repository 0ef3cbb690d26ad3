#include "bench/pair_tree.h"
#include "bench/stopwatch.h"

namespace fallow::bench {

namespace {

constexpr int kDefaultDepth = 22;

Metrics run(int depth) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Pair> root(mutator, pair_tree(mutator, depth));
  const Stopwatch watch;
  heap.collect();
  const double collect_s = watch.cpu_s();
  const double objects = mib(pair_tree_nodes(depth) * sizeof(Pair));
  const double resident = rss_mib();
  return {{"objects_mib", objects},
          {"rss_mib", resident},
          {"rss_ratio", resident / objects},
          {"full_collection_cpu_s", collect_s},
          {"peak_rss_mib", peak_rss_mib()}};
}

}  // namespace

std::vector<Row> tree_rss_rows(const Options& options) {
  const int depth = requested_depth(options, kDefaultDepth);
  return {{"fallow", [depth] { return run(depth); }, nullptr}};
}

}  // namespace fallow::bench
