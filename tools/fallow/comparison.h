// Checks that the two indexes hold the same and answer alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/fallow/managed_index.h"
#include "tools/fallow/queries.h"
#include "tools/fallow/standard_index.h"

namespace fallow::tool {

struct Comparison {
  std::uint64_t files = 0;     // compared
  std::uint64_t words = 0;     // distinct words compared, each with all its postings
  std::uint64_t postings = 0;  // compared
  std::uint64_t answers = 0;   // compared
  std::uint64_t difference_count = 0;
  std::vector<std::string> differences;  // the first ones, as sentences

  [[nodiscard]] bool identical() const { return difference_count == 0; }
  void add_difference(std::string sentence);
};

// Files and counts, then every word with every posting, in alphabetical order.
void compare_indexes(const ManagedIndex& managed, const StandardIndex& standard,
                     Comparison& comparison);

void compare_answers(const std::vector<Answer>& managed, const std::vector<Answer>& standard,
                     Comparison& comparison);

}  // namespace fallow::tool
