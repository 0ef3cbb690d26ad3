#pragma once

namespace fallow::bench::gcbench {

// Parameters of Ellis, Kovac and Boehm.
inline constexpr int kStretchDepth = 18;
inline constexpr int kLongLivedDepth = 16;
inline constexpr int kArraySize = 500'000;
inline constexpr int kMinDepth = 4;
inline constexpr int kMaxDepth = 16;

constexpr int tree_size(int depth) { return (1 << (depth + 1)) - 1; }
constexpr int iterations(int depth) { return 2 * tree_size(kStretchDepth) / tree_size(depth); }

/// The benchmark for allocators without collection, or with one that needs no help. `Allocator` has
/// static make() → Node* with null pointers, release(Node*), make_array(n) → double*,
/// release_array(double*). Node has left and right.
template <class Allocator>
class Plain {
  using Node = typename Allocator::Node;

 public:
  static bool run() {
    release_tree(bottom_up(kStretchDepth));
    Node* const long_lived = Allocator::make();
    top_down(kLongLivedDepth, long_lived);
    double* const array = Allocator::make_array(kArraySize);
    for (int i = 1; i < kArraySize / 2; ++i) array[i] = 1.0 / i;
    for (int depth = kMinDepth; depth <= kMaxDepth; depth += 2) {
      for (int i = 0; i < iterations(depth); ++i) {
        Node* const tree = Allocator::make();
        top_down(depth, tree);
        release_tree(tree);
      }
      for (int i = 0; i < iterations(depth); ++i) release_tree(bottom_up(depth));
    }
    const bool intact = long_lived->left != nullptr && array[1000] == 1.0 / 1000;
    release_tree(long_lived);
    Allocator::release_array(array);
    return intact;
  }

 private:
  static void top_down(int depth, Node* node) {
    if (depth <= 0) return;
    node->left = Allocator::make();
    node->right = Allocator::make();
    top_down(depth - 1, node->left);
    top_down(depth - 1, node->right);
  }
  static Node* bottom_up(int depth) {
    if (depth <= 0) return Allocator::make();
    Node* const left = bottom_up(depth - 1);
    Node* const right = bottom_up(depth - 1);
    Node* const node = Allocator::make();
    node->left = left;
    node->right = right;
    return node;
  }
  static void release_tree(Node* node) {
    if constexpr (Allocator::kReleases) {
      if (node == nullptr) return;
      release_tree(node->left);
      release_tree(node->right);
      Allocator::release(node);
    }
  }
};

}  // namespace fallow::bench::gcbench
