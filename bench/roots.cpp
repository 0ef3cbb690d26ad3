#include <vector>

#include "bench/pair_tree.h"
#include "bench/stopwatch.h"
#include "fallow/frame.h"
#include "fallow/global.h"

namespace fallow::bench {

namespace {

constexpr int kDefaultDepth = 16;

Ref<Pair> with_locals(Mutator& mutator, int depth) {
  if (depth == 0) return make<Pair>(mutator);
  const Local<Pair> left(mutator, with_locals(mutator, depth - 1));
  const Local<Pair> right(mutator, with_locals(mutator, depth - 1));
  return make<Pair>(mutator, left, right);
}

Ref<Pair> with_globals(Mutator& mutator, int depth) {
  if (depth == 0) return make<Pair>(mutator);
  const Global<Pair> left(mutator.heap(), with_globals(mutator, depth - 1));
  const Global<Pair> right(mutator.heap(), with_globals(mutator, depth - 1));
  const Ref<Pair> node = make<Pair>(mutator);
  node->left = left;
  node->right = right;
  return node;
}

Ref<Pair> as_pair(Object* object) { return Ref<Pair>(static_cast<Pair*>(object)); }

/// As generated code does it: slots by index.
Ref<Pair> with_frames(Mutator& mutator, int depth) {
  if (depth == 0) return make<Pair>(mutator);
  Frame frame(mutator, 2);
  frame[0] = with_frames(mutator, depth - 1).get();
  frame[1] = with_frames(mutator, depth - 1).get();
  const Ref<Pair> node = make<Pair>(mutator);
  node->left = as_pair(frame[0]);
  node->right = as_pair(frame[1]);
  return node;
}

/// An explicit stack of the program's own, shown to the collector through a RootProvider.
class OwnStack : public RootProvider {
 public:
  void visit_roots(const RootVisitor& visitor) override {
    for (Object*& slot : slots_) visitor.visit(&slot);
  }
  Ref<Pair> build(Mutator& mutator, int depth) {
    if (depth == 0) return make<Pair>(mutator);
    slots_.push_back(build(mutator, depth - 1).get());
    slots_.push_back(build(mutator, depth - 1).get());
    const Ref<Pair> node = make<Pair>(mutator);
    node->right = as_pair(slots_.back());
    slots_.pop_back();
    node->left = as_pair(slots_.back());
    slots_.pop_back();
    return node;
  }

 private:
  std::vector<Object*> slots_;
};

Ref<Pair> with_provider(Mutator& mutator, int depth) {
  OwnStack stack;
  const RootProviderScope scope(mutator, stack);
  return stack.build(mutator, depth);
}

template <auto Build>
Row row(const char* name, int depth) {
  return {name,
          [depth] {
            Heap heap;
            Mutator mutator(heap, "bench");
            constexpr int kTrees = 64;
            const Stopwatch watch;
            for (int i = 0; i < kTrees; ++i) keep(Build(mutator, depth).get());
            const double wall = watch.wall_s();
            const double cpu = watch.cpu_s();
            const double nodes = kTrees * static_cast<double>(pair_tree_nodes(depth));
            return Metrics{{"ns_per_node", cpu / nodes * 1e9}, {"wall_s", wall}, {"cpu_s", cpu}};
          },
          nullptr};
}

}  // namespace

std::vector<Row> roots_rows(const Options& options) {
  const int depth = requested_depth(options, kDefaultDepth);
  return {row<pair_tree>("live", depth), row<with_locals>("local", depth),
          row<with_frames>("frame", depth), row<with_provider>("provider", depth),
          row<with_globals>("global", depth)};
}

}  // namespace fallow::bench
