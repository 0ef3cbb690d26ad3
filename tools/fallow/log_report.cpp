#include "tools/fallow/log_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

using Json = nlohmann::json;
using Kind = LogCollection::Kind;

Json section_as_json(const LogSectionSummary& section) {
  Json buckets = Json::array();
  for (const LogBucket& bucket : section.histogram) {
    buckets.push_back(
        {{"from_us", bucket.from_us}, {"to_us", bucket.to_us}, {"count", bucket.count}});
  }
  return {
      {"name", section.name},       {"count", section.count},   {"total_s", section.total_s},
      {"p50_us", section.p50_us},   {"p90_us", section.p90_us}, {"p99_us", section.p99_us},
      {"p999_us", section.p999_us}, {"max_us", section.max_us}, {"histogram", std::move(buckets)}};
}

std::string histogram(const LogSectionSummary& section) {
  constexpr std::uint64_t kWidth = 50;
  std::uint64_t largest = 1;
  for (const LogBucket& bucket : section.histogram) largest = std::max(largest, bucket.count);
  std::string text = fmt::format("\n{}\n", section.name);
  for (const LogBucket& bucket : section.histogram) {
    // Whatever is there is seen.
    const std::uint64_t length = (bucket.count * kWidth + largest - 1) / largest;
    text += fmt::format("{:>8} – {:<8} us {:>9} {}\n", bucket.from_us, bucket.to_us, bucket.count,
                        std::string(length, '#'));
  }
  return text;
}

std::string utilisation(const LogSummary& summary) {
  if (summary.pauses.empty()) return "\n" + pauses_in_words(summary) + "\n";
  std::string text =
      fmt::format("\n{}\nsmallest part of a window in which the program ran (MMU)\n\n{:<12}",
                  pauses_in_words(summary), "window, ms");
  for (const LogUtilisation& window : summary.utilisation) {
    text += fmt::format("{:>8}", window.window_ms);
  }
  text += fmt::format("\n{:<12}", "MMU, %");
  for (const LogUtilisation& window : summary.utilisation) {
    text += fmt::format("{:>8.2f}", window.part * 100);
  }
  const std::string left_out = windows_left_out_in_words(summary);
  return text + "\n" + (left_out.empty() ? "" : left_out + "\n");
}

}  // namespace

std::string pauses_in_words(const LogSummary& summary) {
  if (summary.pauses.empty()) return "no pauses: no gc-minor, gc-collect-step or gc-collect";
  std::vector<std::string> kinds;
  const auto add = [&](Kind kind, const char* words) {
    const std::uint64_t count = summary.pauses_of_kind(kind);
    if (count != 0) kinds.push_back(fmt::format("{} {}", format_count(count), words));
  };
  add(Kind::kMinor, "minor");
  add(Kind::kStep, "with a step of a full collection");
  add(Kind::kFull, "full");
  return fmt::format("{}: {}", format_count(summary.pauses.size(), "pause", "pauses"),
                     fmt::join(kinds, ", "));
}

std::string windows_left_out_in_words(const LogSummary& summary) {
  if (summary.windows_left_out_ms.empty()) return {};
  return fmt::format("left out, since the log is shorter: {} ms",
                     fmt::join(summary.windows_left_out_ms, ", "));
}

std::string damage_in_words(const LogSummary& summary) {
  std::string text;
  if (summary.unfinished != 0) text += fmt::format("{} sections have no end\n", summary.unfinished);
  if (summary.damaged_lines != 0) {
    text += fmt::format("{} lines end a section that had not begun\n", summary.damaged_lines);
  }
  return text;
}

std::string log_as_table(const LogSummary& summary, bool with_histograms) {
  std::string text =
      fmt::format("{:.3f} s from the first line to the last; times include the sections within\n\n",
                  summary.span_s);
  text += fmt::format("{:<22}{:>9}{:>12}{:>9}{:>11}{:>11}{:>11}{:>11}\n", "section", "count",
                      "total, ms", "% of s", "p50, us", "p90, us", "p99, us", "max, us");
  for (const LogSectionSummary& section : summary.sections) {
    const double percent = summary.span_s > 0 ? section.total_s / summary.span_s * 100 : 0;
    text += fmt::format("{:<22}{:>9}{:>12.3f}{:>9.2f}{:>11.1f}{:>11.1f}{:>11.1f}{:>11.1f}\n",
                        section.name, section.count, section.total_s * 1e3, percent, section.p50_us,
                        section.p90_us, section.p99_us, section.max_us);
  }
  text += utilisation(summary);
  const std::string damage = damage_in_words(summary);
  if (!damage.empty()) text += "\n" + damage;
  if (!with_histograms) return text;
  for (const LogSectionSummary& section : summary.sections) text += histogram(section);
  return text;
}

std::string log_as_json(const std::string& file, const LogSummary& summary) {
  Json json = {{"log", file},
               {"span_s", summary.span_s},
               {"unfinished_sections", summary.unfinished},
               {"damaged_lines", summary.damaged_lines},
               {"pauses",
                {{"minor", summary.pauses_of_kind(Kind::kMinor)},
                 {"step", summary.pauses_of_kind(Kind::kStep)},
                 {"full", summary.pauses_of_kind(Kind::kFull)}}},
               {"mmu", Json::array()},
               {"mmu_windows_longer_than_log_ms", summary.windows_left_out_ms},
               {"sections", Json::array()}};
  for (const LogUtilisation& window : summary.utilisation) {
    json["mmu"].push_back({{"window_ms", window.window_ms}, {"utilisation", window.part}});
  }
  for (const LogSectionSummary& section : summary.sections) {
    json["sections"].push_back(section_as_json(section));
  }
  // A damaged log may name sections in what is no UTF-8.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fallow::tool
