#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/benchmark.h"

namespace fallow::bench {

/// Told before each measurement: how many are done, of how many, and the row that comes.
using Progress = std::function<void(std::size_t done, std::size_t all, const std::string& row)>;

/// Measures all rows `runs` times, alternately (every row once, then again), each in a process of
/// its own. Throws std::runtime_error naming the row when one fails.
std::vector<Measured> measure(const std::vector<Row>& rows, int runs, const Progress& progress);

/// With an even number of values, of which there is at least one, halfway between the middle two.
double median(std::vector<double> values);

/// Medians, minima and maxima of several runs of one row, metric by metric, over those runs that
/// have the metric.
Measured summarize(const std::string& name, const std::vector<Metrics>& runs);

}  // namespace fallow::bench
