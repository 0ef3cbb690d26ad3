#include <cstdlib>

#include "bench/allocation_row.h"
#include "bench/peers/explicit_allocator.h"
#include "bench/peers/peers.h"
#include "bench/ring.h"

namespace fallow::bench {

namespace {

struct Functions {
  static void* allocate(std::size_t bytes) { return std::malloc(bytes); }
  static void release(void* pointer) { std::free(pointer); }
};

}  // namespace

std::vector<Row> malloc_allocation_rows(std::uint64_t n) {
  return {allocation_row<ExplicitLoop<Functions>>("malloc", n)};
}

std::vector<Row> malloc_gcbench_rows(std::uint64_t repetitions) {
  return {
      plain_gcbench_row("malloc", repetitions, gcbench::Plain<ExplicitAllocator<Functions>>::run)};
}

std::vector<Row> malloc_ring_rows(std::uint64_t pushes) {
  return {{"malloc", [pushes] { return ring::measure_explicit<Functions>(pushes); }, nullptr}};
}

}  // namespace fallow::bench
