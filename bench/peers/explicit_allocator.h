#pragma once

#include <cstdint>

#include "bench/gcbench.h"
#include "bench/stopwatch.h"

namespace fallow::bench {

/// The nodes of `gcbench` from an allocator with explicit free. `Functions` has static
/// allocate(bytes) and release(pointer).
template <class Functions>
struct ExplicitAllocator {
  static constexpr bool kReleases = true;

  struct Node {
    Node* left;
    Node* right;
    int i;
    int j;
  };
  static Node* make() {
    auto* const node = static_cast<Node*>(Functions::allocate(sizeof(Node)));
    *node = Node{};
    return node;
  }
  static void release(Node* node) { Functions::release(node); }
  static double* make_array(int n) {
    return static_cast<double*>(Functions::allocate(sizeof(double) * static_cast<std::size_t>(n)));
  }
  static void release_array(double* array) { Functions::release(array); }
};

/// Subject of `alloc`: allocates an object of 16 bytes and frees the one before the last, n times.
template <class Functions>
struct ExplicitLoop {
  [[gnu::noinline]] void run(std::uint64_t n) {
    void* current = nullptr;
    void* previous = nullptr;
    for (std::uint64_t i = 0; i < n; ++i) {
      Functions::release(previous);
      previous = current;
      current = Functions::allocate(16);
      static_cast<std::uint64_t*>(current)[1] = i;
      keep(current);
    }
    Functions::release(previous);
    Functions::release(current);
  }
};

}  // namespace fallow::bench
