#include "bench/cell_loop.h"

#include "bench/stopwatch.h"
#include "bench/types.h"

namespace fallow::bench {

[[gnu::noinline, gnu::aligned(64)]] void allocate_cells(Mutator& mutator, std::uint64_t n) {
  Ref<Cell> current;
  Ref<Cell> previous;
  for (std::uint64_t i = 0; i < n; ++i) {
    previous = current;
    current = make<Cell>(mutator, live(previous), static_cast<std::int64_t>(i));
  }
  keep(current.get());
  keep(previous.get());
}

double cells_gib(double n) { return n * sizeof(Cell) / (1024.0 * 1024 * 1024); }

}  // namespace fallow::bench
