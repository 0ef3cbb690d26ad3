// The questions that the demo asks both indexes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/fallow/word_index.h"

namespace fallow::tool {

struct AnswerItem {
  std::string text;
  std::uint64_t occurrences = 0;
  std::uint64_t files = 0;
  friend bool operator==(const AnswerItem&, const AnswerItem&) = default;
};

struct Answer {
  std::string question;
  std::vector<AnswerItem> items;
  friend bool operator==(const Answer&, const Answer&) = default;
};

// In this order: the most frequent words; the most frequent word for each initial; the words that
// begin with some prefixes; the files in which two frequent words occur, for several pairs. The
// prefixes and pairs follow from the index itself, so that every directory has interesting ones.
std::vector<Answer> ask_everything(const WordIndex& index);

}  // namespace fallow::tool
