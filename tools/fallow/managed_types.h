// The managed objects of ManagedIndex.
#pragma once

#include <cstdint>

#include "fallow/array.h"
#include "fallow/field.h"
#include "fallow/object.h"
#include "fallow/type.h"
#include "tools/fallow/word_index.h"

namespace fallow::tool {

// A link in the chain of a word's postings. Full links are followed by longer ones.
struct PostingLink : Object {
  explicit PostingLink(const Ref<ValueArray<Posting>>& array) : postings(array) {}

  Field<PostingLink> next;
  Field<ValueArray<Posting>> postings;
  std::uint32_t used = 0;  // of postings->length()
  using Fields = FieldList<&PostingLink::next, &PostingLink::postings>;
};

// A word. It hangs in the chain of its hash bucket and in the tree that orders the words.
struct WordEntry : Object {
  WordEntry(const Ref<String>& text, std::uint64_t text_hash, std::uint64_t tree_priority)
      : word(text), hash(text_hash), priority(tree_priority) {}

  Field<String> word;
  Field<WordEntry> next_in_bucket;
  Field<WordEntry> left;
  Field<WordEntry> right;
  Field<PostingLink> first_link;
  Field<PostingLink> last_link;
  std::uint64_t hash;
  std::uint64_t priority;
  std::uint64_t occurrences = 0;
  std::uint32_t files = 0;
  using Fields = FieldList<&WordEntry::word, &WordEntry::next_in_bucket, &WordEntry::left,
                           &WordEntry::right, &WordEntry::first_link, &WordEntry::last_link>;
};

struct FileEntry : Object {
  explicit FileEntry(const Ref<String>& name) : path(name) {}

  Field<String> path;
  std::uint64_t words = 0;
  using Fields = FieldList<&FileEntry::path>;
};

// What keeps everything alive.
struct IndexRoot : Object {
  Field<Array<WordEntry>> buckets;  // a power of two of them
  Field<WordEntry> tree;
  Field<Array<FileEntry>> files;  // the first file_count are in use
  std::uint64_t file_count = 0;
  std::uint64_t word_count = 0;
  std::uint64_t distinct_count = 0;
  using Fields = FieldList<&IndexRoot::buckets, &IndexRoot::tree, &IndexRoot::files>;
};

}  // namespace fallow::tool
