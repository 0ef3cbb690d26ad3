// What stays resident after much has died.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "bench/garbage.h"
#include "bench/stopwatch.h"

namespace fallow::bench {

namespace {

using namespace std::chrono_literals;

/// Makes garbage; returns what is kept of it.
using Leave = std::function<Ref<Array<Pair>>(Mutator&)>;

/// Light work promotes nothing, so that it would not begin a full collection by itself. One that is
/// under way has begun before all was dead, and may keep it.
void begin_collection(Heap& heap) {
  while (!heap.step(10ms).cycle_ended) {
  }
  heap.step(0ns);
}

Metrics resident(const Leave& leave, std::chrono::milliseconds work) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Array<Pair>> kept(mutator, leave(mutator));
  begin_collection(heap);
  // Long enough for that and for free memory to age.
  work_lightly(mutator, work);
  const double after = rss_mib();
  const double peak = peak_rss_mib();
  heap.trim();
  return {{"rss_peak_mib", peak},
          {"rss_after_mib", after},
          {"rss_trimmed_mib", rss_mib()},
          {"mappings", static_cast<double>(platform::mapping_count())}};
}

}  // namespace

std::vector<Row> rss_rows(const Options& options) {
  const std::size_t percent = options.n != 0 ? options.n : 100;
  if (percent > 1000) throw BadOption("--n is a percentage here, at most 1000");
  const std::chrono::milliseconds work = 30ms * std::min<std::size_t>(percent, 100);
  const auto part = [percent](std::size_t whole) {
    return std::max<std::size_t>(whole * percent / 100, 1);
  };
  std::vector<Row> rows;
  const auto add = [&rows, work](const std::string& name, const Leave& leave) {
    rows.push_back({name, [leave, work] { return resident(leave, work); }, nullptr});
  };
  for (const BlockSet& all : kGigabytesOfBlocks) {
    const BlockSet blocks{part(all.count), all.bytes};
    add(fmt::format("blocks/{}", blocks.bytes), [blocks](Mutator& mutator) {
      drop_blocks(mutator, blocks);
      return Ref<Array<Pair>>();
    });
  }
  const std::size_t nodes = part(kListNodes);
  for (const std::size_t keep_one : {10, 200, 0}) {
    const std::string kept = keep_one == 0 ? "none" : fmt::format("1-in-{}", keep_one);
    add("nodes/" + kept,
        [nodes, keep_one](Mutator& mutator) { return keep_some(mutator, nodes, keep_one); });
  }
  return rows;
}

}  // namespace fallow::bench
