#pragma once

#include <vector>

#include "bench/benchmark.h"

namespace fallow::bench {

/// Runs a row once in a child process and returns its figures; those that are no finite number are
/// left out. The row's series go into `series`, unless that is null. Throws std::runtime_error that
/// names the row when it throws, crashes or is killed.
Metrics run_isolated(const Row& row, std::vector<Series>* series = nullptr);

}  // namespace fallow::bench
