#include "tools/fallow/managed_index.h"

#include <algorithm>

#include "fallow/live.h"
#include "fallow/local.h"
#include "fallow/make.h"
#include "tools/fallow/ordered_words.h"
#include "tools/fallow/tokenizer.h"

namespace fallow::tool {
namespace {

constexpr std::size_t kFirstBuckets = 1024;
constexpr std::size_t kFirstFiles = 64;
constexpr std::size_t kFirstPostings = 1;
constexpr std::size_t kMostPostings = 128;

std::uint64_t hash_of(std::string_view word) { return std::hash<std::string_view>()(word); }

// Spreads a hash anew, so that the tree's shape does not follow the buckets.
std::uint64_t priority_of(std::uint64_t hash) {
  hash = (hash ^ (hash >> 31)) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 29);
}

void hang_into_bucket(const Ref<Array<WordEntry>>& buckets, const Ref<WordEntry>& entry) {
  const std::size_t bucket = entry->hash & (buckets->length() - 1);
  entry->next_in_bucket = buckets->get_unchecked(bucket);
  buckets->set_unchecked(bucket, entry);
}

}  // namespace

ManagedIndex::ManagedIndex(Mutator& mutator) : mutator_(mutator), root_(mutator.heap()) {
  root_ = make<IndexRoot>(mutator);
  const Ref<Array<WordEntry>> buckets = make_array<WordEntry>(mutator, kFirstBuckets);
  root_->buckets = buckets;
  const Ref<Array<FileEntry>> files = make_array<FileEntry>(mutator, kFirstFiles);
  root_->files = files;
}

void ManagedIndex::add_file(std::string_view path, std::string_view text) {
  Ref<String> name = make_string(mutator_, path);
  Local<FileEntry> file(mutator_, make<FileEntry>(mutator_, live(name), name));
  const std::size_t number = root_->file_count;
  if (number == root_->files->length()) {
    const Ref<Array<FileEntry>> more = make_array<FileEntry>(mutator_, 2 * number);
    more->copy_from(0, root_->files, 0, number);
    root_->files = more;
  }
  root_->files->set(number, file);
  root_->file_count = number + 1;

  const std::uint64_t words =
      for_each_word(text, [this](std::string_view word) { add_word(word); });
  file->words = words;
  root_->word_count += words;
}

void ManagedIndex::add_word(std::string_view text) {
  Ref<String> word = make_string(mutator_, text);
  const std::uint64_t hash = hash_of(word->view());
  if (const Ref<WordEntry> known = find(word->view(), hash)) {
    add_occurrence(known);
    return;
  }
  const Ref<WordEntry> entry = make<WordEntry>(mutator_, live(word), word, hash, priority_of(hash));
  hang_into_bucket(root_->buckets, entry);
  insert_in_order(root_->tree, entry);
  add_occurrence(entry);
  if (++root_->distinct_count > root_->buckets->length()) double_buckets();
}

void ManagedIndex::add_occurrence(Ref<WordEntry> entry) {
  ++entry->occurrences;
  const auto file = static_cast<std::uint32_t>(root_->file_count - 1);
  const Ref<PostingLink> last = entry->last_link;
  if (last) {
    Posting& latest = last->postings->data()[last->used - 1];
    if (latest.file == file) {
      ++latest.count;
      return;
    }
  }
  ++entry->files;
  if (last && last->used < last->postings->length()) {
    last->postings->data()[last->used++] = {file, 1};
    return;
  }
  const std::size_t length =
      last ? std::min(2 * last->postings->length(), kMostPostings) : kFirstPostings;
  Ref<ValueArray<Posting>> postings =
      make_values<ValueArray<Posting>>(mutator_, live(entry), length);
  const Ref<PostingLink> link = make<PostingLink>(mutator_, live(entry, postings), postings);
  postings->data()[0] = {file, 1};
  link->used = 1;
  if (entry->last_link) {
    entry->last_link->next = link;
  } else {
    entry->first_link = link;
  }
  entry->last_link = link;
}

void ManagedIndex::double_buckets() {
  const std::size_t count = root_->buckets->length();
  const Ref<Array<WordEntry>> more = make_array<WordEntry>(mutator_, 2 * count);
  const Ref<Array<WordEntry>> buckets = root_->buckets;
  for (std::size_t i = 0; i < count; ++i) {
    for (Ref<WordEntry> entry = buckets->get_unchecked(i); entry;) {
      const Ref<WordEntry> next = entry->next_in_bucket;
      hang_into_bucket(more, entry);
      entry = next;
    }
  }
  root_->buckets = more;
}

Ref<WordEntry> ManagedIndex::find(std::string_view word, std::uint64_t hash) const {
  const Ref<Array<WordEntry>> buckets = root_->buckets;
  Ref<WordEntry> entry = buckets->get_unchecked(hash & (buckets->length() - 1));
  while (entry && (entry->hash != hash || entry->word->view() != word)) {
    entry = entry->next_in_bucket;
  }
  return entry;
}

}  // namespace fallow::tool
