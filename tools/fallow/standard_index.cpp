#include "tools/fallow/standard_index.h"

#include <algorithm>
#include <utility>

#include "tools/fallow/tokenizer.h"

namespace fallow::tool {
namespace {

WordCount count_of(std::string_view word, const StandardIndex::Entry& entry) {
  return {std::string(word), entry.occurrences, static_cast<std::uint32_t>(entry.postings.size())};
}

}  // namespace

void StandardIndex::add_file(std::string_view path, std::string_view text) {
  files_.push_back({std::string(path), 0});
  const std::uint64_t added =
      for_each_word(text, [this](std::string_view word) { add_word(word); });
  files_.back().words = added;
  word_count_ += added;
}

void StandardIndex::add_word(std::string_view text) {
  const auto [found, is_new] = words_.try_emplace(std::string(text));
  auto& [word, entry] = *found;
  if (is_new) ordered_.emplace(word, &entry);
  ++entry.occurrences;
  const auto file = static_cast<std::uint32_t>(files_.size() - 1);
  if (entry.postings.empty() || entry.postings.back().file != file) {
    entry.postings.push_back({file, 1});
  } else {
    ++entry.postings.back().count;
  }
}

std::vector<WordCount> StandardIndex::top_words(std::size_t count) const {
  std::vector<const Words::value_type*> all;
  all.reserve(words_.size());
  for (const auto& word : words_) all.push_back(&word);
  const std::size_t wanted = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(wanted), all.end(),
                    [](const auto* left, const auto* right) {
                      if (left->second.occurrences != right->second.occurrences) {
                        return left->second.occurrences > right->second.occurrences;
                      }
                      return left->first < right->first;
                    });
  std::vector<WordCount> result;
  result.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    result.push_back(count_of(all[i]->first, all[i]->second));
  }
  return result;
}

std::optional<WordCount> StandardIndex::top_word_with_prefix(std::string_view prefix) const {
  auto best = ordered_.end();
  for (auto word = ordered_.lower_bound(prefix);
       word != ordered_.end() && word->first.starts_with(prefix); ++word) {
    if (best == ordered_.end() || word->second->occurrences > best->second->occurrences) {
      best = word;
    }
  }
  if (best == ordered_.end()) return std::nullopt;
  return count_of(best->first, *best->second);
}

std::vector<WordCount> StandardIndex::words_with_prefix(std::string_view prefix,
                                                        std::size_t limit) const {
  std::vector<WordCount> result;
  for (auto word = ordered_.lower_bound(prefix);
       word != ordered_.end() && result.size() < limit && word->first.starts_with(prefix); ++word) {
    result.push_back(count_of(word->first, *word->second));
  }
  return result;
}

std::vector<FileWithBoth> StandardIndex::files_with_both(std::string_view first,
                                                         std::string_view second) const {
  const auto left_word = words_.find(std::string(first));
  const auto right_word = words_.find(std::string(second));
  if (left_word == words_.end() || right_word == words_.end()) return {};
  std::vector<FileWithBoth> result;
  auto left = left_word->second.postings.begin();
  const auto left_end = left_word->second.postings.end();
  for (const Posting& right : right_word->second.postings) {
    while (left != left_end && left->file < right.file) ++left;
    if (left == left_end) break;
    if (left->file != right.file) continue;
    result.push_back({files_[right.file].path, std::uint64_t{left->count} + right.count});
  }
  return result;
}

}  // namespace fallow::tool
