#include "tools/fallow/ordered_words.h"

namespace fallow::tool {

void insert_in_order(Field<WordEntry>& tree, const Ref<WordEntry>& entry) {
  const std::string_view word = entry->word->view();
  Field<WordEntry>* place = &tree;
  while (*place && (*place)->priority >= entry->priority) {
    WordEntry& node = **place;
    place = node.word->view() < word ? &node.right : &node.left;
  }
  Ref<WordEntry> rest = *place;
  *place = entry;

  // Splits what was there: the lesser words go below entry->left, the others below entry->right.
  Field<WordEntry>* lesser = &entry->left;
  Field<WordEntry>* greater = &entry->right;
  while (rest) {
    if (rest->word->view() < word) {
      *lesser = rest;
      lesser = &rest->right;
      rest = rest->right;
    } else {
      *greater = rest;
      greater = &rest->left;
      rest = rest->left;
    }
  }
  *lesser = nullptr;
  *greater = nullptr;
}

}  // namespace fallow::tool
