// Minimum mutator utilisation (Cheng and Blelloch, 2001): of all windows of a length, the one in
// which the program ran least. Says what many short pauses in a row hide from percentiles.
#pragma once

#include <cstdint>
#include <vector>

namespace fallow::telemetry {

// In nanoseconds since some moment; the end is not less than the beginning.
struct TimeSpan {
  std::int64_t begin_ns;
  std::int64_t end_ns;
};

// Sorted, what overlaps or touches made one.
std::vector<TimeSpan> disjoint(std::vector<TimeSpan> spans);

// The smallest part (0 to 1) of a window within [0, length_ns] that lies outside the pauses, which
// are disjoint and within, too. Exact, in O(pauses). 0 < window_ns <= length_ns.
double minimum_utilisation(const std::vector<TimeSpan>& pauses, std::int64_t length_ns,
                           std::int64_t window_ns);

}  // namespace fallow::telemetry
