#include "bench/pair_tree.h"
#include "bench/stopwatch.h"

namespace fallow::bench {

namespace {

constexpr int kDefaultDepth = 22;
constexpr double kMiB = 1024 * 1024;

Metrics run(int depth) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Pair> root(mutator, pair_tree(mutator, depth));
  const Stopwatch watch;
  heap.collect();
  const double collect_s = watch.cpu_s();
  const double objects = static_cast<double>(pair_tree_nodes(depth) * sizeof(Pair)) / kMiB;
  const double resident = static_cast<double>(platform::resident_bytes()) / kMiB;
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
