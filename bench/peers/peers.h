#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/benchmark.h"

namespace fallow::bench {

/// Rows of the allocators that fallow is compared with, as far as they are installed.
std::vector<Row> peer_allocation_rows(std::uint64_t n);
std::vector<Row> peer_gcbench_rows(std::uint64_t repetitions);
std::vector<Row> peer_ring_rows(std::uint64_t pushes);

/// The pieces of the above, one file a peer; empty when the peer is not installed.
std::vector<Row> malloc_allocation_rows(std::uint64_t n);
std::vector<Row> malloc_gcbench_rows(std::uint64_t repetitions);
std::vector<Row> malloc_ring_rows(std::uint64_t pushes);
std::vector<Row> mimalloc_allocation_rows(std::uint64_t n);
std::vector<Row> mimalloc_gcbench_rows(std::uint64_t repetitions);
std::vector<Row> mimalloc_ring_rows(std::uint64_t pushes);
std::vector<Row> boehm_allocation_rows(std::uint64_t n);
std::vector<Row> boehm_gcbench_rows(std::uint64_t repetitions);

/// How a row of `gcbench` is measured.
Row plain_gcbench_row(const std::string& name, std::uint64_t repetitions, bool (*run)());

}  // namespace fallow::bench
