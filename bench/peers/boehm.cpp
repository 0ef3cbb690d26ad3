#include "bench/peers/peers.h"

#ifdef FALLOW_BENCH_HAVE_BOEHM

#include <gc.h>
#include <gc/gc_inline.h>

#include "bench/allocation_row.h"
#include "bench/gcbench.h"

namespace fallow::bench {

namespace {

struct Allocator {
  static constexpr bool kReleases = false;

  struct Node {
    Node* left;
    Node* right;
    int i;
    int j;
  };
  static Node* make() { return static_cast<Node*>(GC_MALLOC(sizeof(Node))); }
  static double* make_array(int n) {
    return static_cast<double*>(GC_MALLOC_ATOMIC(sizeof(double) * static_cast<std::size_t>(n)));
  }
  static void release_array(double* /*array*/) {}
};

struct CallLoop {
  CallLoop() { GC_INIT(); }
  [[gnu::noinline]] void run(std::uint64_t n) {
    void* current = nullptr;
    void* previous = nullptr;
    for (std::uint64_t i = 0; i < n; ++i) {
      previous = current;
      current = GC_MALLOC(16);
      static_cast<std::uint64_t*>(current)[1] = i;
    }
    keep(current);
    keep(previous);
  }
};

/// The free lists inlined, as gc_inline.h offers.
struct InlineLoop {
  InlineLoop() { GC_INIT(); }
  [[gnu::noinline]] void run(std::uint64_t n) {
    void* lists[GC_TINY_FREELISTS] = {};
    void* current = nullptr;
    void* previous = nullptr;
    for (std::uint64_t i = 0; i < n; ++i) {
      previous = current;
      GC_FAST_MALLOC_GRANS(current, 1, lists, 0, GC_I_NORMAL, GC_malloc(16), (void)0);
      static_cast<std::uint64_t*>(current)[1] = i;
    }
    keep(current);
    keep(previous);
  }
};

bool run_gcbench() {
  GC_INIT();
  return gcbench::Plain<Allocator>::run();
}

}  // namespace

std::vector<Row> boehm_allocation_rows(std::uint64_t n) {
  return {allocation_row<CallLoop>("boehm", n), allocation_row<InlineLoop>("boehm-inline", n)};
}

std::vector<Row> boehm_gcbench_rows(std::uint64_t repetitions) {
  return {plain_gcbench_row("boehm", repetitions, run_gcbench)};
}

}  // namespace fallow::bench

#else

namespace fallow::bench {
std::vector<Row> boehm_allocation_rows(std::uint64_t /*n*/) { return {}; }
std::vector<Row> boehm_gcbench_rows(std::uint64_t /*repetitions*/) { return {}; }
}  // namespace fallow::bench

#endif
