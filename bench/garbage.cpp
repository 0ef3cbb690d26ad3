#include "bench/garbage.h"

#include <algorithm>

#include "bench/pair_tree.h"
#include "bench/stopwatch.h"

namespace fallow::bench {

void drop_blocks(Mutator& mutator, const BlockSet& blocks) {
  using Block = ValueArray<unsigned char>;
  const Local<Array<Block>> all(mutator, make_array<Block>(mutator, blocks.count));
  for (std::size_t i = 0; i < blocks.count; ++i) {
    const Ref<Block> block = make_values<Block>(mutator, blocks.bytes);
    std::fill_n(block->data(), blocks.bytes, static_cast<unsigned char>(i));
    all->set(i, block);
  }
}

Ref<Array<Pair>> keep_some(Mutator& mutator, std::size_t nodes, std::size_t keep_one) {
  const std::size_t count = keep_one == 0 ? 0 : nodes / keep_one;
  const Local<Array<Pair>> kept(mutator, make_array<Pair>(mutator, count));
  Local<Pair> list(mutator);
  for (std::size_t i = 0; i < nodes; ++i) {
    list = make<Pair>(mutator, list, nullptr);
    if (keep_one != 0 && i % keep_one == 0 && i / keep_one < count) kept->set(i / keep_one, list);
  }
  // Cut between the kept ones.
  for (std::size_t i = 0; i < count; ++i) kept->get(i)->left = nullptr;
  return kept;
}

void work_lightly(Mutator& mutator, std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 1000; ++i) keep(pair_tree(mutator, 5).get());
  }
}

}  // namespace fallow::bench
