// The questions to ManagedIndex. None of them allocates managed memory, so Refs stay valid.
#include <algorithm>
#include <functional>

#include "tools/fallow/managed_index.h"
#include "tools/fallow/ordered_words.h"

namespace fallow::tool {
namespace {

WordCount count_of(const Ref<WordEntry>& entry) {
  return {std::string(entry->word->view()), entry->occurrences, entry->files};
}

bool more_frequent(const Ref<WordEntry>& left, const Ref<WordEntry>& right) {
  if (left->occurrences != right->occurrences) return left->occurrences > right->occurrences;
  return left->word->view() < right->word->view();
}

// Steps through the postings of a word.
class PostingReader {
 public:
  explicit PostingReader(const Ref<WordEntry>& entry) : link_(entry->first_link) {}

  [[nodiscard]] bool at_end() const { return !link_; }
  [[nodiscard]] const Posting& posting() const { return link_->postings->data()[index_]; }
  void advance() {
    if (++index_ == link_->used) {
      link_ = link_->next;
      index_ = 0;
    }
  }

 private:
  Ref<PostingLink> link_;
  std::uint32_t index_ = 0;
};

}  // namespace

std::vector<FileWords> ManagedIndex::files() const {
  std::vector<FileWords> result;
  result.reserve(root_->file_count);
  for (std::size_t i = 0; i < root_->file_count; ++i) {
    const Ref<FileEntry> file = root_->files->get(i);
    result.push_back({std::string(file->path->view()), file->words});
  }
  return result;
}

std::string ManagedIndex::path_of(std::uint32_t file) const {
  return std::string(root_->files->get(file)->path->view());
}

std::vector<WordCount> ManagedIndex::top_words(std::size_t count) const {
  // A heap of the best so far with the least frequent of them on top.
  std::vector<Ref<WordEntry>> best;
  const Ref<Array<WordEntry>> buckets = root_->buckets;
  for (std::size_t i = 0; i < buckets->length() && count != 0; ++i) {
    for (Ref<WordEntry> entry = buckets->get(i); entry; entry = entry->next_in_bucket) {
      if (best.size() == count) {
        if (!more_frequent(entry, best.front())) continue;
        std::pop_heap(best.begin(), best.end(), more_frequent);
        best.pop_back();
      }
      best.push_back(entry);
      std::push_heap(best.begin(), best.end(), more_frequent);
    }
  }
  std::sort_heap(best.begin(), best.end(), more_frequent);
  std::vector<WordCount> result;
  result.reserve(best.size());
  for (const Ref<WordEntry>& entry : best) result.push_back(count_of(entry));
  return result;
}

std::optional<WordCount> ManagedIndex::top_word_with_prefix(std::string_view prefix) const {
  Ref<WordEntry> best;
  visit_in_order(root_->tree, prefix, [&](const Ref<WordEntry>& entry) {
    if (!entry->word->view().starts_with(prefix)) return false;
    if (!best || entry->occurrences > best->occurrences) best = entry;
    return true;
  });
  if (!best) return std::nullopt;
  return count_of(best);
}

std::vector<WordCount> ManagedIndex::words_with_prefix(std::string_view prefix,
                                                       std::size_t limit) const {
  std::vector<WordCount> result;
  visit_in_order(root_->tree, prefix, [&](const Ref<WordEntry>& entry) {
    if (result.size() == limit || !entry->word->view().starts_with(prefix)) return false;
    result.push_back(count_of(entry));
    return true;
  });
  return result;
}

std::vector<FileWithBoth> ManagedIndex::files_with_both(std::string_view first,
                                                        std::string_view second) const {
  const std::hash<std::string_view> hash;
  const Ref<WordEntry> left_word = find(first, hash(first));
  const Ref<WordEntry> right_word = find(second, hash(second));
  if (!left_word || !right_word) return {};
  std::vector<FileWithBoth> result;
  PostingReader left(left_word);
  PostingReader right(right_word);
  while (!left.at_end() && !right.at_end()) {
    const Posting& one = left.posting();
    const Posting& other = right.posting();
    const std::uint32_t file = std::max(one.file, other.file);
    if (one.file == other.file) {
      result.push_back({path_of(file), std::uint64_t{one.count} + other.count});
    }
    const bool left_is_done = one.file <= other.file;
    const bool right_is_done = other.file <= one.file;
    if (left_is_done) left.advance();
    if (right_is_done) right.advance();
  }
  return result;
}

void ManagedIndex::visit_words(const WordVisitor& visitor) const {
  std::vector<Posting> postings;
  visit_in_order(root_->tree, {}, [&](const Ref<WordEntry>& entry) {
    postings.clear();
    for (PostingReader reader(entry); !reader.at_end(); reader.advance()) {
      postings.push_back(reader.posting());
    }
    visitor(count_of(entry), postings);
    return true;
  });
}

}  // namespace fallow::tool
