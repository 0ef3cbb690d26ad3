#pragma once

#include <chrono>
#include <cstddef>

#include "bench/types.h"

namespace fallow::bench {

/// Pointer-free blocks of one size.
struct BlockSet {
  std::size_t count;
  std::size_t bytes;
};

/// About a gigabyte each. Blocks of the first two sizes are large objects, the others cells.
inline constexpr BlockSet kGigabytesOfBlocks[] = {
    {4'000, 256 << 10}, {16'000, 64 << 10}, {200'000, 4 << 10}, {2'000'000, 512}};

/// Nodes of the list that keep_some() is measured with.
inline constexpr std::size_t kListNodes = 10'000'000;

/// Fills blocks, all alive at once, and drops them at once.
void drop_blocks(Mutator& mutator, const BlockSet& blocks);

/// Builds a list and drops it but for every `keep_one`-th node, of which the array returned holds
/// those; 0 keeps none.
Ref<Array<Pair>> keep_some(Mutator& mutator, std::size_t nodes, std::size_t keep_one);

/// Light work: a little garbage, now and then a minor collection.
void work_lightly(Mutator& mutator, std::chrono::milliseconds time);

}  // namespace fallow::bench
