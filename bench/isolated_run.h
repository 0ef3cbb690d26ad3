#pragma once

#include "bench/benchmark.h"

namespace fallow::bench {

/// Runs a row once in a child process and returns its figures; those that are no finite number are
/// left out. Throws std::runtime_error that names the row when it throws, crashes or is killed.
Metrics run_isolated(const Row& row);

}  // namespace fallow::bench
