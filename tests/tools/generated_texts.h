// Texts for the tests of the demo: the same in every run.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "tools/fallow/text_files.h"

namespace fallow::tool {

// Words are numbers below `vocabulary` in letters, with "aw" behind; small ones are frequent, as in
// a language.
inline TextFiles generate_texts(std::size_t files, std::size_t words_per_file,
                                std::uint32_t vocabulary, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  const auto word = [&] {
    // A product of two uniform numbers: its distribution falls steeply.
    const std::uint64_t number =
        (std::uint64_t{random() % vocabulary} * (random() % vocabulary)) / vocabulary;
    std::string text = "aw";
    for (std::uint64_t rest = number; rest != 0; rest /= 26) {
      text.insert(text.begin(), static_cast<char>('a' + rest % 26));
    }
    return text;
  };
  TextFiles texts;
  for (std::size_t i = 0; i < files; ++i) {
    std::string text;
    for (std::size_t j = 0; j < words_per_file; ++j) text += word() + (j % 10 == 9 ? ".\n" : " ");
    texts.bytes += text.size();
    texts.files.push_back({"directory/file" + std::to_string(i), std::move(text)});
  }
  return texts;
}

}  // namespace fallow::tool
