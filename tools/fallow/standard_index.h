// The index of the demo on the containers of the C++ standard library: what fallow is compared
// with, in results and in time.
#pragma once

#include <map>
#include <unordered_map>

#include "tools/fallow/word_index.h"

namespace fallow::tool {

// As in ManagedIndex, each occurrence of a word creates a string.
class StandardIndex : public WordIndex {
 public:
  struct Entry {
    std::uint64_t occurrences = 0;
    std::vector<Posting> postings;
  };
  using Words = std::unordered_map<std::string, Entry>;

  void add_file(std::string_view path, std::string_view text) override;

  [[nodiscard]] std::uint64_t words() const override { return word_count_; }
  [[nodiscard]] std::uint64_t distinct_words() const override { return words_.size(); }
  [[nodiscard]] std::vector<FileWords> files() const override { return files_; }
  [[nodiscard]] std::vector<WordCount> top_words(std::size_t count) const override;
  [[nodiscard]] std::optional<WordCount> top_word_with_prefix(
      std::string_view prefix) const override;
  [[nodiscard]] std::vector<WordCount> words_with_prefix(std::string_view prefix,
                                                         std::size_t limit) const override;
  [[nodiscard]] std::vector<FileWithBoth> files_with_both(std::string_view first,
                                                          std::string_view second) const override;

  // Every word in alphabetical order. The keys lie in the hash table's nodes, which stay in place.
  using OrderedWords = std::map<std::string_view, const Entry*>;
  [[nodiscard]] const OrderedWords& ordered_words() const { return ordered_; }

 private:
  void add_word(std::string_view text);

  Words words_;
  OrderedWords ordered_;
  std::vector<FileWords> files_;
  std::uint64_t word_count_ = 0;
};

}  // namespace fallow::tool
