#include "bench/peers/peers.h"

#include <utility>

namespace fallow::bench {

namespace {

void append(std::vector<Row>& rows, std::vector<Row> more) {
  for (Row& row : more) rows.push_back(std::move(row));
}

}  // namespace

std::vector<Row> peer_allocation_rows(std::uint64_t n) {
  std::vector<Row> rows = malloc_allocation_rows(n);
  append(rows, mimalloc_allocation_rows(n));
  append(rows, boehm_allocation_rows(n));
  return rows;
}

std::vector<Row> peer_gcbench_rows(std::uint64_t repetitions) {
  std::vector<Row> rows = malloc_gcbench_rows(repetitions);
  append(rows, mimalloc_gcbench_rows(repetitions));
  append(rows, boehm_gcbench_rows(repetitions));
  return rows;
}

std::vector<Row> peer_ring_rows(std::uint64_t pushes) {
  std::vector<Row> rows = malloc_ring_rows(pushes);
  append(rows, mimalloc_ring_rows(pushes));
  return rows;
}

}  // namespace fallow::bench
