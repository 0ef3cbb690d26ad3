#pragma once

#include "bench/plot_axis.h"
#include "bench/series.h"

namespace fallow::bench {

/// What is to be seen of points, sorted by x, of which many share a column of a panel's pixels: the
/// highest of each column.
Points highest_of_columns(const Points& points, const Axis& x);

/// The same for a line: of each column the highest, the lowest, and the first and last, which lead
/// to the columns beside.
Points outline_of_columns(const Points& points, const Axis& x);

}  // namespace fallow::bench
