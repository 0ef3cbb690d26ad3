#include "bench/stopwatch.h"
#include "bench/types.h"

namespace fallow::bench {

namespace {

constexpr int kDefaultDepth = 22;

Ref<Pair> tree(Mutator& mutator, int depth) {
  if (depth == 0) return make<Pair>(mutator);
  const Local<Pair> left(mutator, tree(mutator, depth - 1));
  Ref<Pair> right = tree(mutator, depth - 1);
  return make<Pair>(mutator, live(right), left, right);
}

Metrics run(int depth) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Pair> root(mutator, tree(mutator, depth));
  const Stopwatch watch;
  heap.collect();
  const double collect_s = watch.cpu_s();
  constexpr double kMiB = 1024 * 1024;
  const double objects =
      static_cast<double>(((std::uint64_t{2} << depth) - 1) * sizeof(Pair)) / kMiB;
  const double resident = static_cast<double>(platform::resident_bytes()) / kMiB;
  return {{"objects_mib", objects},
          {"rss_mib", resident},
          {"rss_ratio", resident / objects},
          {"full_collection_cpu_s", collect_s},
          {"peak_rss_mib", peak_rss_mib()}};
}

}  // namespace

std::vector<Row> tree_rss_rows(const Options& options) {
  const int depth = options.n != 0 ? static_cast<int>(options.n) : kDefaultDepth;
  return {{"fallow", [depth] { return run(depth); }, nullptr}};
}

}  // namespace fallow::bench
