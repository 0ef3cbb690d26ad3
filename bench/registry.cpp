#include "bench/benchmark.h"

namespace fallow::bench {

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> all = {
      {"alloc", "16-byte objects in a loop: the bump path, against a hand-written one and others",
       "objects (default 1000000000)", alloc_rows},
      {"gcbench", "Ellis, Kovac and Boehm's tree benchmark", "repetitions (default 1)",
       gcbench_rows},
      {"minor", "cost of minor collections by survival and remembered slots", "rounds (default 40)",
       minor_rows},
      {"barrier", "cost of stores into old objects and arrays", "stores (default 20000000)",
       barrier_rows},
      {"roots", "building trees with each way of rooting", "tree depth (default 16)", roots_rows},
      {"threads", "several mutators: aggregate rate and time to stop",
       "objects of each mutator (default 500000000)", threads_rows},
      {"nursery",
       "GCBench and allocation against the size of the nursery, with a picture",
       "objects of the allocation loop (default 200000000)",
       nursery_rows,
       {{"nursery.svg", nursery_as_svg}}},
      {"pause", "pauses of full collections in steps, in scenarios that have hurt other collectors",
       "tree depth (default 24: 33 million nodes)", pause_rows},
      {"tree-rss", "resident memory of a live tree against the bytes of its objects",
       "tree depth (default 22: 8.4 million nodes)", tree_rss_rows},
      {"ring", "the newest 200000 messages of 1 KiB: time of every push, and memory",
       "pushes (default 1000000); fewer than 200000 take a smaller ring", ring_rows},
      {"rss", "resident memory after much has died, in scenarios that keep other heaps large",
       "percent of the scenarios' sizes (default 100)", rss_rows},
      {"lives", "weak references, ephemerons, finalizers, ledgers and identity hashes",
       "objects (default 1000000; ten times as many with finalizers)", lives_rows},
      {"device", "device memory: speed of allocate and free, and how full it gets, by strategy",
       "requests (default 1000000)", device_rows},
      {"sample", "cost of recording samples, by interval, against the same work unrecorded",
       "objects of the allocation loop (default 1000000000)", sample_rows},
      {"server",
       "events that a large heap has to answer soon, by the way it collects; pictures",
       "MiB of live objects (default a twentieth of the memory, at most 768)",
       server_rows,
       {{"server.svg", server_as_svg}, {"server.html", server_as_html}}},
  };
  return all;
}

}  // namespace fallow::bench
