// What the demo expects of an index of words, whatever it is built from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fallow::tool {

// How often a word occurs in one file; files are numbered from 0 in the order of add_file.
struct Posting {
  std::uint32_t file;
  std::uint32_t count;
  friend bool operator==(const Posting&, const Posting&) = default;
};

struct WordCount {
  std::string word;
  std::uint64_t occurrences = 0;
  std::uint32_t files = 0;
  friend bool operator==(const WordCount&, const WordCount&) = default;
};

struct FileWords {
  std::string path;
  std::uint64_t words = 0;
  friend bool operator==(const FileWords&, const FileWords&) = default;
};

struct FileWithBoth {
  std::string path;
  std::uint64_t occurrences = 0;  // of the two words together
  friend bool operator==(const FileWithBoth&, const FileWithBoth&) = default;
};

// An index of the words of files. "Most frequent" means most occurrences and, among equals, first
// in the alphabet. Not thread-safe.
class WordIndex {
 public:
  virtual ~WordIndex() = default;

  // Adds every word of `text`. O(words), each with O(log distinct words) the first time.
  virtual void add_file(std::string_view path, std::string_view text) = 0;

  [[nodiscard]] virtual std::uint64_t words() const = 0;
  [[nodiscard]] virtual std::uint64_t distinct_words() const = 0;
  [[nodiscard]] virtual std::vector<FileWords> files() const = 0;

  // The most frequent words, at most `count`.
  [[nodiscard]] virtual std::vector<WordCount> top_words(std::size_t count) const = 0;
  [[nodiscard]] virtual std::optional<WordCount> top_word_with_prefix(
      std::string_view prefix) const = 0;
  // In alphabetical order, at most `limit`.
  [[nodiscard]] virtual std::vector<WordCount> words_with_prefix(std::string_view prefix,
                                                                 std::size_t limit) const = 0;
  // The files in which both words occur.
  [[nodiscard]] virtual std::vector<FileWithBoth> files_with_both(
      std::string_view first, std::string_view second) const = 0;
};

}  // namespace fallow::tool
