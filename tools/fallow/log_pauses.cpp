#include "tools/fallow/log_pauses.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace fallow::tool {
namespace {

using Kind = LogCollection::Kind;

// What ends one section, writes it to the log and begins the next takes some ten microseconds. A
// program that calls for the next step does so later, or has hardly run.
constexpr std::int64_t kLongestGapNs = 100'000;

// A cycle's beginning, its marking and its sweeping are a step each, at least.
constexpr unsigned kStepsOfWholeCycle = 3;

}  // namespace

std::int64_t nanoseconds_of(std::uint64_t ticks, double ticks_per_second) {
  constexpr double kMost = 4e18;
  return std::llround(std::min(static_cast<double>(ticks) / ticks_per_second * 1e9, kMost));
}

std::vector<LogPause> pauses_of(const LogContents& log, double ticks_per_second) {
  const auto ns_of = [&log, ticks_per_second](std::uint64_t ticks) {
    return nanoseconds_of(ticks - log.first, ticks_per_second);
  };
  std::vector<LogCollection> collections = log.collections;
  std::sort(collections.begin(), collections.end(),
            [](const LogCollection& a, const LogCollection& b) {
              return std::tie(a.begin, a.kind, a.end) < std::tie(b.begin, b.kind, b.end);
            });
  std::vector<LogPause> pauses;
  unsigned steps = 0;  // in the last pause
  for (const LogCollection& collection : collections) {
    const telemetry::TimeSpan span{ns_of(collection.begin), ns_of(collection.end)};
    // The program has always run before a minor collection, be it ever so little.
    const bool continues = !pauses.empty() && collection.kind == Kind::kStep &&
                           span.begin_ns - pauses.back().span.end_ns <= kLongestGapNs;
    if (!continues) {
      pauses.push_back({collection.kind, span});
      steps = 0;
    }
    LogPause& pause = pauses.back();
    pause.span.end_ns = std::max(pause.span.end_ns, span.end_ns);
    if (collection.kind != Kind::kStep) continue;
    ++steps;
    const bool whole = collection.ends_cycle && steps >= kStepsOfWholeCycle;
    pause.kind = whole ? Kind::kFull : std::max(pause.kind, Kind::kStep);
  }
  return pauses;
}

}  // namespace fallow::tool
