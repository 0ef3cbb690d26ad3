#pragma once

#include <vector>

#include "bench/benchmark.h"

namespace fallow::bench {

/// Rows of `sample` in which a program that knows nothing of fallow runs with the profiling malloc
/// in front of it, in turns with the same program without.
void add_preloaded_rows(std::vector<Row>& rows);

}  // namespace fallow::bench
