// All graphs of a few objects with two fields each, up to their numbering.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace fallow::test {

inline constexpr unsigned kMaxObjects = 4;
/// Fields of all objects in a row; the value n of an n-object graph stands for null.
using Graph = std::array<std::uint8_t, 2 * kMaxObjects>;

/// Whether no renumbering of the objects gives a graph that comes earlier in lexical order.
inline bool is_canonical(const Graph& graph, unsigned objects) {
  std::array<std::uint8_t, kMaxObjects + 1> renamed{};
  std::iota(renamed.begin(), renamed.begin() + objects + 1, std::uint8_t{0});
  do {
    Graph other{};
    for (unsigned field = 0; field < 2 * objects; ++field) {
      other[2 * renamed[field / 2] + field % 2] = renamed[graph[field]];
    }
    if (other < graph) return false;
    // The last entry is null, which keeps its number.
  } while (std::next_permutation(renamed.begin(), renamed.begin() + objects));
  return true;
}

inline std::vector<Graph> canonical_graphs(unsigned objects) {
  std::vector<Graph> graphs;
  std::size_t total = 1;
  for (unsigned field = 0; field < 2 * objects; ++field) total *= objects + 1;
  for (std::size_t number = 0; number < total; ++number) {
    Graph graph{};
    std::size_t rest = number;
    for (unsigned field = 0; field < 2 * objects; ++field, rest /= objects + 1) {
      graph[field] = static_cast<std::uint8_t>(rest % (objects + 1));
    }
    if (is_canonical(graph, objects)) graphs.push_back(graph);
  }
  return graphs;
}

}  // namespace fallow::test
