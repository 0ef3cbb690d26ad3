#pragma once

#include "bench/benchmark.h"
#include "fallow/options.h"

namespace fallow::bench {

/// One GCBench on a heap with these options: wall_s, cpu_s, peak_rss_mib, pauses.
Metrics measure_gcbench_with_live(const HeapOptions& options);

}  // namespace fallow::bench
