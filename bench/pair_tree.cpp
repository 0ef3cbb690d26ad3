#include "bench/pair_tree.h"

#include <fmt/format.h>

namespace fallow::bench {

namespace {
constexpr int kDeepest = 30;
}

Ref<Pair> pair_tree(Mutator& mutator, int depth) {
  if (depth == 0) return make<Pair>(mutator);
  const Local<Pair> left(mutator, pair_tree(mutator, depth - 1));
  Ref<Pair> right = pair_tree(mutator, depth - 1);
  return make<Pair>(mutator, live(right), left, right);
}

int requested_depth(const Options& options, int otherwise) {
  if (options.n == 0) return otherwise;
  if (options.n > kDeepest) {
    throw BadOption(fmt::format("--n is the depth of a tree here, at most {}", kDeepest));
  }
  return static_cast<int>(options.n);
}

}  // namespace fallow::bench
