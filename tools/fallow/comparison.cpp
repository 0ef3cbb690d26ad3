#include "tools/fallow/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fallow::tool {
namespace {

constexpr std::size_t kDifferencesKept = 20;

std::string describe(const Posting& posting) {
  return fmt::format("{} times in file {}", posting.count, posting.file);
}

std::string describe(const AnswerItem& item) {
  return fmt::format("\"{}\" ({} times, {} files)", item.text, item.occurrences, item.files);
}

std::string describe(const FileWords& file) {
  return fmt::format("{} with {} words", file.path, file.words);
}

// The first place where two sequences differ, described; empty if they are equal.
template <class Item>
std::string first_difference(const std::vector<Item>& managed, const std::vector<Item>& standard) {
  const auto [left, right] =
      std::mismatch(managed.begin(), managed.end(), standard.begin(), standard.end());
  if (left == managed.end() && right == standard.end()) return {};
  return fmt::format("item {}: {} in the managed index, {} in the standard one",
                     left - managed.begin(), left == managed.end() ? "nothing" : describe(*left),
                     right == standard.end() ? "nothing" : describe(*right));
}

void compare_word(const WordCount& managed, const std::vector<Posting>& postings,
                  const StandardIndex::Entry& standard, Comparison& comparison) {
  ++comparison.words;
  comparison.postings += postings.size();
  if (managed.occurrences != standard.occurrences) {
    comparison.add_difference(
        fmt::format("\"{}\" occurs {} times in the managed index, {} times in the standard one",
                    managed.word, managed.occurrences, standard.occurrences));
  }
  if (managed.files != postings.size()) {
    comparison.add_difference(
        fmt::format("\"{}\" has {} postings in the managed index, which counts {} files",
                    managed.word, postings.size(), managed.files));
  }
  const std::string difference = first_difference(postings, standard.postings);
  if (!difference.empty()) {
    comparison.add_difference(fmt::format("\"{}\", {}", managed.word, difference));
  }
}

}  // namespace

void Comparison::add_difference(std::string sentence) {
  ++difference_count;
  if (differences.size() < kDifferencesKept) differences.push_back(std::move(sentence));
}

void compare_indexes(const ManagedIndex& managed, const StandardIndex& standard,
                     Comparison& comparison) {
  if (managed.words() != standard.words()) {
    comparison.add_difference(fmt::format("{} words in the managed index, {} in the standard one",
                                          managed.words(), standard.words()));
  }
  if (managed.distinct_words() != standard.distinct_words()) {
    comparison.add_difference(
        fmt::format("{} distinct words in the managed index, {} in the standard one",
                    managed.distinct_words(), standard.distinct_words()));
  }
  const std::vector<FileWords> files = managed.files();
  comparison.files += files.size();
  const std::string difference = first_difference(files, standard.files());
  if (!difference.empty()) comparison.add_difference("table of files, " + difference);

  auto expected = standard.ordered_words().begin();
  const auto end = standard.ordered_words().end();
  const auto missing = [&comparison](std::string_view word, const char* where) {
    comparison.add_difference(fmt::format("\"{}\" is missing in the {} index", word, where));
  };
  managed.visit_words([&](const WordCount& word, const std::vector<Posting>& postings) {
    for (; expected != end && expected->first < word.word; ++expected) {
      missing(expected->first, "managed");
    }
    if (expected == end || expected->first != word.word) {
      missing(word.word, "standard");
      return;
    }
    compare_word(word, postings, *expected->second, comparison);
    ++expected;
  });
  for (; expected != end; ++expected) missing(expected->first, "managed");
}

void compare_answers(const std::vector<Answer>& managed, const std::vector<Answer>& standard,
                     Comparison& comparison) {
  if (managed.size() != standard.size()) {
    comparison.add_difference(fmt::format("{} answers from the managed index, {} from the other",
                                          managed.size(), standard.size()));
  }
  const std::size_t count = std::min(managed.size(), standard.size());
  comparison.answers += count;
  for (std::size_t i = 0; i < count; ++i) {
    if (managed[i] == standard[i]) continue;
    comparison.add_difference(
        fmt::format("{}: {}", managed[i].question,
                    managed[i].question != standard[i].question
                        ? "the standard index was asked for " + standard[i].question
                        : first_difference(managed[i].items, standard[i].items)));
  }
}

}  // namespace fallow::tool
