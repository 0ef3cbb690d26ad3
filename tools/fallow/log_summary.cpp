#include "tools/fallow/log_summary.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

namespace fallow::tool {
namespace {

constexpr std::uint64_t kWindowsMs[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};

LogSectionSummary summarize(const std::string& name, std::vector<std::uint64_t>& durations,
                            double ticks_per_second) {
  std::sort(durations.begin(), durations.end());
  const auto us = [ticks_per_second](std::uint64_t ticks) {
    return static_cast<double>(ticks) / ticks_per_second * 1e6;
  };
  // The smallest duration that the given part of all does not exceed.
  const auto percentile = [&](double part) {
    const double rank = std::ceil(part * static_cast<double>(durations.size()));
    return us(durations[static_cast<std::size_t>(std::max(rank, 1.0)) - 1]);
  };
  LogSectionSummary section{.name = name,
                            .count = durations.size(),
                            .p50_us = percentile(0.5),
                            .p90_us = percentile(0.9),
                            .p99_us = percentile(0.99),
                            .p999_us = percentile(0.999),
                            .max_us = us(durations.back()),
                            .histogram = {}};
  double from = 0;
  double to = 1;
  while (to <= us(durations.front())) {
    from = to;
    to *= 2;
  }
  section.histogram.push_back({from, to, 0});
  for (const std::uint64_t ticks : durations) {
    section.total_s += us(ticks) * 1e-6;
    for (; us(ticks) >= to; section.histogram.push_back({from, to, 0})) {
      from = to;
      to *= 2;
    }
    ++section.histogram.back().count;
  }
  return section;
}

std::vector<LogSectionSummary> sections_of(LogContents& log, double ticks_per_second) {
  std::vector<LogSectionSummary> sections;
  sections.reserve(log.durations.size());
  for (auto& [name, durations] : log.durations) {
    sections.push_back(summarize(name, durations, ticks_per_second));
  }
  std::sort(sections.begin(), sections.end(), [](const auto& a, const auto& b) {
    return a.total_s != b.total_s ? a.total_s > b.total_s : a.name < b.name;
  });
  return sections;
}

std::vector<LogMemory> memory_of(const std::vector<LogBytes>& lines, const LogContents& log,
                                 double ticks_per_second) {
  std::vector<LogMemory> memory;
  memory.reserve(lines.size());
  for (const LogBytes& line : lines) {
    memory.push_back({static_cast<double>(line.at - log.first) / ticks_per_second, line.bytes});
  }
  std::sort(memory.begin(), memory.end(), [](const LogMemory& a, const LogMemory& b) {
    return std::tie(a.at_s, a.bytes) < std::tie(b.at_s, b.bytes);
  });
  return memory;
}

void add_utilisation(LogSummary& summary, std::int64_t length_ns) {
  if (summary.pauses.empty()) return;
  std::vector<telemetry::TimeSpan> spans;
  spans.reserve(summary.pauses.size());
  for (const LogPause& pause : summary.pauses) spans.push_back(pause.span);
  spans = telemetry::disjoint(std::move(spans));
  for (const std::uint64_t window_ms : kWindowsMs) {
    const auto window_ns = static_cast<std::int64_t>(window_ms * 1'000'000);
    if (window_ns > length_ns) {
      summary.windows_left_out_ms.push_back(window_ms);
    } else {
      summary.utilisation.push_back(
          {window_ms, telemetry::minimum_utilisation(spans, length_ns, window_ns)});
    }
  }
}

double ticks_per_second_of(const LogContents& log, std::optional<double> given) {
  const double ticks = given.value_or(static_cast<double>(log.ticks_per_second));
  // A clock slower than that is none, and its histograms would not end.
  if (ticks >= 1) return ticks;
  throw std::runtime_error(
      "the log does not say how long a tick is; pass --ticks-per-second, for a log of PyPy the "
      "frequency of the processor's time stamp counter");
}

}  // namespace

std::uint64_t LogSummary::pauses_of_kind(LogCollection::Kind kind) const {
  const auto count = std::count_if(pauses.begin(), pauses.end(),
                                   [kind](const LogPause& pause) { return pause.kind == kind; });
  return static_cast<std::uint64_t>(count);
}

LogSummary summarize_log(std::istream& log, std::optional<double> ticks_per_second) {
  LogContents contents = read_log(log);
  if (contents.durations.empty() && contents.unfinished == 0) {
    throw std::runtime_error("this is no log: it holds no section");
  }
  const double ticks = ticks_per_second_of(contents, ticks_per_second);
  LogSummary summary;
  summary.span_s = static_cast<double>(contents.last - contents.first) / ticks;
  summary.unfinished = contents.unfinished;
  summary.damaged_lines = contents.damaged_lines;
  summary.sections = sections_of(contents, ticks);
  summary.pauses = pauses_of(contents, ticks);
  summary.used = memory_of(contents.used, contents, ticks);
  summary.thresholds = memory_of(contents.thresholds, contents, ticks);
  add_utilisation(summary, nanoseconds_of(contents.last - contents.first, ticks));
  return summary;
}

}  // namespace fallow::tool
