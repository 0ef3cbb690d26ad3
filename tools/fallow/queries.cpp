#include "tools/fallow/queries.h"

#include <fmt/format.h>

#include <utility>

namespace fallow::tool {
namespace {

constexpr std::size_t kTopWords = 20;
constexpr std::size_t kPrefixWords = 50;
constexpr std::size_t kPrefixLength = 4;
constexpr std::size_t kShortestPrefixedWord = 7;

AnswerItem item_of(WordCount word) { return {std::move(word.word), word.occurrences, word.files}; }

Answer ask_top_words(const WordIndex& index) {
  Answer answer{fmt::format("{} most frequent words", kTopWords), {}};
  for (WordCount& word : index.top_words(kTopWords)) {
    answer.items.push_back(item_of(std::move(word)));
  }
  return answer;
}

Answer ask_initials(const WordIndex& index) {
  Answer answer{"most frequent word for each initial", {}};
  for (char initial = 'a'; initial <= 'z'; ++initial) {
    std::optional<WordCount> word = index.top_word_with_prefix(std::string(1, initial));
    if (word) answer.items.push_back(item_of(std::move(*word)));
  }
  return answer;
}

Answer ask_prefix(const WordIndex& index, const std::string& prefix) {
  Answer answer{fmt::format("words that begin with \"{}\"", prefix), {}};
  for (WordCount& word : index.words_with_prefix(prefix, kPrefixWords)) {
    answer.items.push_back(item_of(std::move(word)));
  }
  return answer;
}

Answer ask_both(const WordIndex& index, const std::string& first, const std::string& second) {
  Answer answer{fmt::format("files with both \"{}\" and \"{}\"", first, second), {}};
  for (FileWithBoth& file : index.files_with_both(first, second)) {
    answer.items.push_back({std::move(file.path), file.occurrences, 1});
  }
  return answer;
}

}  // namespace

std::vector<Answer> ask_everything(const WordIndex& index) {
  std::vector<Answer> answers;
  answers.push_back(ask_top_words(index));
  answers.push_back(ask_initials(index));
  const std::vector<AnswerItem> initials = answers.back().items;
  for (const AnswerItem& word : initials) {
    if (word.text.size() < kShortestPrefixedWord) continue;
    answers.push_back(ask_prefix(index, word.text.substr(0, kPrefixLength)));
  }
  for (std::size_t i = 1; i < initials.size(); ++i) {
    answers.push_back(ask_both(index, initials[i - 1].text, initials[i].text));
  }
  return answers;
}

}  // namespace fallow::tool
