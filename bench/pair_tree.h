#pragma once

#include <cstdint>

#include "bench/benchmark.h"
#include "bench/types.h"

namespace fallow::bench {

/// A full binary tree of Pairs, built bottom-up; a depth of 0 is a single node.
Ref<Pair> pair_tree(Mutator& mutator, int depth);

/// Nodes of such a tree.
constexpr std::uint64_t pair_tree_nodes(int depth) { return (std::uint64_t{2} << depth) - 1; }

/// The depth that --n asks for. Throws BadOption beyond 30, where a tree has 48 GiB.
int requested_depth(const Options& options, int otherwise);

}  // namespace fallow::bench
