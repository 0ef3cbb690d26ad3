#pragma once

#include <string>
#include <vector>

#include "bench/benchmark.h"

namespace fallow::bench {

/// A table for people: a line a row, a column a metric, medians with the range behind them.
std::string as_table(const std::vector<Measured>& rows);

/// {"bench": …, "machine": {…}, "rows": [{"name": …, METRIC: median, METRIC_min: …,
/// METRIC_max: …}]}
std::string as_json(const std::string& benchmark, const std::vector<Measured>& rows);

}  // namespace fallow::bench
