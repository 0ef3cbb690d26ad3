#include "bench/pixel_columns.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/svg_panels.h"

namespace fallow::bench {

namespace {

using At = Points::const_iterator;

/// `choose(begin, end)` names those to keep of a column.
template <class Choose>
Points thinned(const Points& points, const Axis& x, Choose&& choose) {
  const auto column_of = [&x](const Points::value_type& point) {
    return std::floor(x.part(point.first) * kPanelWidth);
  };
  Points kept;
  for (At begin = points.begin(); begin != points.end();) {
    const At end = std::find_if(begin + 1, points.end(), [&](const Points::value_type& point) {
      return column_of(point) != column_of(*begin);
    });
    for (const At at : choose(begin, end)) kept.push_back(*at);
    begin = end;
  }
  return kept;
}

bool lower(const Points::value_type& a, const Points::value_type& b) { return a.second < b.second; }

}  // namespace

Points highest_of_columns(const Points& points, const Axis& x) {
  return thinned(points, x, [](At begin, At end) {
    return std::set<At>{std::max_element(begin, end, lower)};
  });
}

Points outline_of_columns(const Points& points, const Axis& x) {
  return thinned(points, x, [](At begin, At end) {
    return std::set<At>{begin, std::max_element(begin, end, lower),
                        std::min_element(begin, end, lower), end - 1};
  });
}

}  // namespace fallow::bench
