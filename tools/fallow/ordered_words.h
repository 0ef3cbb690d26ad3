// The words in order: a treap (a search tree by word that is a heap by priority; Seidel and Aragon
// 1996). Priorities come from hashes, so the expected depth is logarithmic and runs are alike.
//
// Insertion rearranges old nodes in place, and that is why the demo has it: nodes that have been
// promoted come to refer to one that has just been created. Nothing here allocates managed memory,
// so Refs and Fields stay valid throughout.
#pragma once

#include <string_view>
#include <vector>

#include "tools/fallow/managed_types.h"

namespace fallow::tool {

// Adds `entry`, whose word must not be in the tree. O(depth).
void insert_in_order(Field<WordEntry>& tree, const Ref<WordEntry>& entry);

// Calls visit(const Ref<WordEntry>&) for each word from `first` on, in order, until it returns
// false. O(depth + visited). No managed memory may be allocated by `visit`.
template <class Visit>
void visit_in_order(const Field<WordEntry>& tree, std::string_view first, Visit&& visit) {
  std::vector<Ref<WordEntry>> larger;  // visited after everything to their left
  for (Ref<WordEntry> node = tree; node;) {
    if (node->word->view() < first) {
      node = node->right;
    } else {
      larger.push_back(node);
      node = node->left;
    }
  }
  while (!larger.empty()) {
    const Ref<WordEntry> node = larger.back();
    larger.pop_back();
    if (!visit(node)) return;
    for (Ref<WordEntry> next = node->right; next; next = next->left) larger.push_back(next);
  }
}

}  // namespace fallow::tool
