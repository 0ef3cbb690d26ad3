// The index of the demo in a fallow heap. Written as a user of the library would write it.
#pragma once

#include <functional>

#include "fallow/global.h"
#include "fallow/heap.h"
#include "fallow/mutator.h"
#include "tools/fallow/managed_types.h"
#include "tools/fallow/word_index.h"

namespace fallow::tool {

// Must be destroyed before the mutator, and is used by the mutator's thread only.
//
// Each occurrence of a word creates a String, as a program in a managed language would; those of
// words that are known already die at once.
class ManagedIndex : public WordIndex {
 public:
  explicit ManagedIndex(Mutator& mutator);

  void add_file(std::string_view path, std::string_view text) override;

  [[nodiscard]] std::uint64_t words() const override { return root_->word_count; }
  [[nodiscard]] std::uint64_t distinct_words() const override { return root_->distinct_count; }
  [[nodiscard]] std::vector<FileWords> files() const override;
  [[nodiscard]] std::vector<WordCount> top_words(std::size_t count) const override;
  [[nodiscard]] std::optional<WordCount> top_word_with_prefix(
      std::string_view prefix) const override;
  [[nodiscard]] std::vector<WordCount> words_with_prefix(std::string_view prefix,
                                                         std::size_t limit) const override;
  [[nodiscard]] std::vector<FileWithBoth> files_with_both(std::string_view first,
                                                          std::string_view second) const override;

  // Every word in alphabetical order with its postings.
  using WordVisitor =
      std::function<void(const WordCount& word, const std::vector<Posting>& postings)>;
  void visit_words(const WordVisitor& visitor) const;

 private:
  void add_word(std::string_view text);
  void add_occurrence(Ref<WordEntry> entry);
  void double_buckets();
  [[nodiscard]] Ref<WordEntry> find(std::string_view word, std::uint64_t hash) const;
  [[nodiscard]] std::string path_of(std::uint32_t file) const;

  Mutator& mutator_;
  Global<IndexRoot> root_;
};

}  // namespace fallow::tool
