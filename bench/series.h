#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fallow::bench {

using Points = std::vector<std::pair<double, double>>;

/// What a picture shows as one line or one cloud of dots.
struct Series {
  std::string name;
  Points points;
};

}  // namespace fallow::bench
