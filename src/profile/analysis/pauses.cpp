#include "profile/analysis/pauses.h"

#include <algorithm>

#include "telemetry/utilisation.h"

namespace fallow::profile {
namespace {

constexpr std::uint32_t kWindowsMs[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};

std::uint64_t quantile(const std::vector<std::uint64_t>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(part * static_cast<double>(sorted.size()));
  return sorted[std::min(rank, sorted.size() - 1)];
}

PauseRow row_of(PauseKind kind, const std::vector<Pause>& pauses) {
  PauseRow row;
  row.kind = kind;
  std::vector<std::uint64_t> lengths;
  for (const Pause& pause : pauses) {
    if (pause.kind != kind) continue;
    lengths.push_back(pause.wall_ns);
    row.total_ns += pause.wall_ns;
    row.cpu_ns += pause.cpu_ns;
  }
  row.count = lengths.size();
  if (lengths.empty()) return row;
  std::sort(lengths.begin(), lengths.end());
  row.p50_ns = quantile(lengths, 0.5);
  row.p99_ns = quantile(lengths, 0.99);
  row.max_ns = lengths.back();
  return row;
}

std::vector<Utilisation> utilisation_of(const Recording& recording) {
  std::vector<telemetry::TimeSpan> spans;
  for (const Pause& pause : recording.pauses) {
    const std::int64_t begin = std::clamp<std::int64_t>(pause.begin_ns(), 0, recording.end_ns);
    const std::int64_t end = std::clamp<std::int64_t>(pause.end_ns, 0, recording.end_ns);
    if (begin < end) spans.push_back({begin, end});
  }
  spans = telemetry::disjoint(std::move(spans));
  std::vector<Utilisation> utilisation;
  for (const std::uint32_t window_ms : kWindowsMs) {
    const std::int64_t window_ns = std::int64_t{window_ms} * 1'000'000;
    if (window_ns > recording.end_ns) break;
    utilisation.push_back(
        {window_ms, telemetry::minimum_utilisation(spans, recording.end_ns, window_ns)});
  }
  return utilisation;
}

}  // namespace

PauseSummary pauses_of(const Recording& recording, std::size_t longest) {
  PauseSummary summary;
  for (const PauseKind kind : {PauseKind::kMinor, PauseKind::kStep, PauseKind::kFull}) {
    PauseRow row = row_of(kind, recording.pauses);
    if (row.count != 0) summary.rows.push_back(row);
  }
  if (!recording.pauses.empty()) summary.utilisation = utilisation_of(recording);
  summary.longest.resize(recording.pauses.size());
  for (std::uint32_t i = 0; i < summary.longest.size(); ++i) summary.longest[i] = i;
  const std::size_t kept = std::min(longest, summary.longest.size());
  std::partial_sort(summary.longest.begin(),
                    summary.longest.begin() + static_cast<std::ptrdiff_t>(kept),
                    summary.longest.end(), [&recording](std::uint32_t a, std::uint32_t b) {
                      return recording.pauses[a].wall_ns > recording.pauses[b].wall_ns;
                    });
  summary.longest.resize(kept);
  return summary;
}

const char* kind_name(PauseKind kind) {
  switch (kind) {
    case PauseKind::kMinor:
      return "minor";
    case PauseKind::kStep:
      return "step";
    case PauseKind::kFull:
      return "full";
  }
  return "?";
}

const char* state_name(std::uint8_t state) {
  constexpr const char* kNames[] = {"idle", "marking", "sweeping"};
  return state < 3 ? kNames[state] : "?";
}

}  // namespace fallow::profile
