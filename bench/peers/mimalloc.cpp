#include "bench/peers/peers.h"

#ifdef FALLOW_BENCH_HAVE_MIMALLOC

#include <mimalloc.h>

#include "bench/allocation_row.h"
#include "bench/peers/explicit_allocator.h"
#include "bench/ring.h"

namespace fallow::bench {

namespace {

struct Functions {
  static void* allocate(std::size_t bytes) { return mi_malloc(bytes); }
  static void release(void* pointer) { mi_free(pointer); }
};

}  // namespace

std::vector<Row> mimalloc_allocation_rows(std::uint64_t n) {
  return {allocation_row<ExplicitLoop<Functions>>("mimalloc", n)};
}

std::vector<Row> mimalloc_gcbench_rows(std::uint64_t repetitions) {
  return {plain_gcbench_row("mimalloc", repetitions,
                            gcbench::Plain<ExplicitAllocator<Functions>>::run)};
}

std::vector<Row> mimalloc_ring_rows(std::uint64_t pushes) {
  return {{"mimalloc", [pushes] { return ring::measure_explicit<Functions>(pushes); }, nullptr}};
}

}  // namespace fallow::bench

#else

namespace fallow::bench {
std::vector<Row> mimalloc_allocation_rows(std::uint64_t /*n*/) { return {}; }
std::vector<Row> mimalloc_gcbench_rows(std::uint64_t /*repetitions*/) { return {}; }
std::vector<Row> mimalloc_ring_rows(std::uint64_t /*pushes*/) { return {}; }
}  // namespace fallow::bench

#endif
