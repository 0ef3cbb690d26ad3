#pragma once

#include <cstdint>

#include "fallow/mutator.h"

namespace fallow::bench {

/// Allocates n cells of 16 bytes with `make` and `live`, initialised, the last two alive: the loop
/// that `alloc` measures as live/init, for benchmarks of something else.
void allocate_cells(Mutator& mutator, std::uint64_t n);

/// Bytes of n such cells, in GiB.
double cells_gib(double n);

}  // namespace fallow::bench
