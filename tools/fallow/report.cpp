#include "tools/fallow/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "telemetry/size_parser.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

using telemetry::format_bytes;

constexpr std::size_t kShownInitials = 8;
constexpr std::size_t kShownWords = 5;

// Items joined by commas, at most `count` of them.
template <class Describe>
std::string join_first(const std::vector<AnswerItem>& items, std::size_t count,
                       const Describe& describe) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count, items.size()); ++i) {
    if (i != 0) text += ", ";
    text += describe(items[i]);
  }
  if (items.size() > count) text += ", …";
  return text;
}

std::string format_spread(const Spread& seconds, std::size_t rounds) {
  std::string text = format_seconds(seconds.median);
  if (rounds > 1) {
    text += fmt::format(" ({} – {})", format_seconds(seconds.min), format_seconds(seconds.max));
  }
  return text;
}

class TextReport {
 public:
  explicit TextReport(const ReportInput& input)
      : texts_(input.texts), result_(input.measurement), round_(median_round(result_.rounds)) {
    line("An index of all words below {}", fmt::join(input.directories, " and "));
    write_corpus();
    if (!texts_.files.empty()) {
      write_costs();
      write_heap();
      write_answers();
    }
    write_verdict();
  }

  std::string take() { return std::move(text_); }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void write_corpus() {
    line("");
    line("  texts     {}, {}", format_count(texts_.files.size(), "file", "files"),
         format_bytes(texts_.bytes));
    std::string skipped =
        fmt::format("{} binary, {} empty, {} unreadable", format_count(texts_.binary),
                    format_count(texts_.empty), format_count(texts_.unreadable));
    if (texts_.links != 0) skipped += ", " + format_count(texts_.links, "link", "links");
    if (texts_.special != 0) {
      skipped += ", " + format_count(texts_.special, "pipe or device", "pipes and devices");
    }
    line("  left out  {}", skipped);
    if (texts_.beyond_limit != 0) {
      line("            and {} because of --max-bytes",
           format_count(texts_.beyond_limit, "file", "files"));
    }
    line("  words     {}, {} distinct", format_count(result_.words),
         format_count(result_.distinct_words));
  }

  void cost_line(const char* name, double Duration::* clock, Duration Costs::* what) {
    const auto of = [&](Costs Round::* index) {
      return format_spread(
          spread_of(result_.rounds, [&](const Round& round) { return round.*index.*what.*clock; }),
          result_.rounds.size());
    };
    line("  {:<24}{:<32}{}", name, of(&Round::managed), of(&Round::standard));
  }

  void write_costs() {
    line("");
    line("  {:<24}{:<32}{}", "", "fallow", "std:: containers");
    cost_line("build, wall time", &Duration::wall_s, &Costs::build);
    cost_line("build, CPU time", &Duration::cpu_s, &Costs::build);
    const std::string questions =
        format_count(result_.answers.size(), "question", "questions") + ", wall time";
    cost_line(questions.c_str(), &Duration::wall_s, &Costs::queries);
    cost_line("free it all, wall time", &Duration::wall_s, &Costs::release);
    if (result_.has_peaks) {
      const auto peak = [&](Costs Round::* index) {
        const Spread bytes = spread_of(result_.rounds, [&](const Round& round) {
          return static_cast<double>((round.*index).peak_growth_bytes);
        });
        return format_bytes(static_cast<std::uint64_t>(bytes.max));
      };
      line("  {:<24}{:<32}{}", "peak memory", peak(&Round::managed), peak(&Round::standard));
    }
    line("");
    line("  Both indexed the same texts, already in memory, on one thread, one after the other.");
    if (result_.rounds.size() > 1) {
      line("  {} rounds: medians (and extremes).", result_.rounds.size());
    }
  }

  void pause_line(const char* name, const PauseSummary& pauses) {
    if (pauses.count == 0) return;
    line("  {:<24}{:<10}{:<10}{:<10}{:<10}{}", name, format_nanoseconds(pauses.p50_ns),
         format_nanoseconds(pauses.p99_ns), format_nanoseconds(pauses.p999_ns),
         format_nanoseconds(pauses.max_ns), format_nanoseconds(pauses.total_ns));
  }

  void write_heap() {
    const HeapStatistics& heap = round_.heap;
    line("");
    line("  {:<24}{}, {}", "allocated", format_bytes(heap.allocated),
         format_rate(heap.allocated, round_.managed.build.wall_s));
    line("  {:<24}{}, of them {} promoted from a nursery of {}", "collections",
         format_count(heap.minor_collections, "minor", "minor") + " and " +
             format_count(heap.full_collections, "full", "full"),
         format_bytes(heap.promoted), format_bytes(heap.nursery));
    if (heap.minor_collections + heap.full_collections == 0) return;
    line("");
    line("  {:<24}{:<10}{:<10}{:<10}{:<10}{}", "pauses", "p50", "p99", "p99.9", "max", "total");
    pause_line("minor, wall time", heap.minor_wall);
    pause_line("minor, CPU time", heap.minor_cpu);
    pause_line("full, wall time", heap.full_wall);
    pause_line("full, CPU time", heap.full_cpu);
  }

  // One answer of each kind.
  void write_answers() {
    line("");
    if (!result_.answers.empty()) {
      line("  most frequent   {}",
           join_first(result_.answers[0].items, kShownWords, [](const AnswerItem& item) {
             return fmt::format("{} {}", item.text, format_count(item.occurrences));
           }));
    }
    if (result_.answers.size() > 1) {
      line("  by initial      {}", join_first(result_.answers[1].items, kShownInitials,
                                              [](const AnswerItem& item) { return item.text; }));
    }
    for (std::size_t i = 2; i < result_.answers.size(); ++i) {
      const Answer& answer = result_.answers[i];
      const bool first_of_kind = i == 2 || i + 1 == result_.answers.size();
      if (!first_of_kind) continue;
      line("  {}: {}", answer.question,
           answer.question.starts_with("files")
               ? format_count(answer.items.size())
               : join_first(answer.items, kShownWords,
                            [](const AnswerItem& item) { return item.text; }));
    }
  }

  void write_verdict() {
    const Comparison& comparison = result_.comparison;
    line("");
    if (comparison.identical() && texts_.files.empty()) {
      line("  There is nothing to index.");
    } else if (comparison.identical()) {
      line("  Both agree on {}, {} and {}.", format_count(comparison.words, "word", "words"),
           format_count(comparison.postings, "posting", "postings"),
           format_count(comparison.answers, "answer", "answers"));
    } else {
      line("  THE TWO INDEXES DIFFER in {}:",
           format_count(comparison.difference_count, "place", "places"));
      for (const std::string& difference : comparison.differences) line("    {}", difference);
    }
    if (!result_.verified) return;
    const Verification& check = result_.verification;
    if (check.complaints.empty()) {
      line("  The heap is in order: {}, {}.", format_count(check.objects, "object", "objects"),
           format_bytes(check.bytes));
    } else {
      line("  THE HEAP IS DAMAGED:");
      for (const std::string& complaint : check.complaints) line("    {}", complaint);
    }
  }

  const TextFiles& texts_;
  const Measurement& result_;
  const Round& round_;
  std::string text_;
};

}  // namespace

Spread spread_of(const std::vector<Round>& rounds,
                 const std::function<double(const Round&)>& value) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const Round& round : rounds) values.push_back(value(round));
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

const Round& median_round(const std::vector<Round>& rounds) {
  std::vector<const Round*> ordered;
  ordered.reserve(rounds.size());
  for (const Round& round : rounds) ordered.push_back(&round);
  std::sort(ordered.begin(), ordered.end(), [](const Round* left, const Round* right) {
    return left->managed.build.wall_s < right->managed.build.wall_s;
  });
  return *ordered[ordered.size() / 2];
}

std::string report_as_text(const ReportInput& input) { return TextReport(input).take(); }

}  // namespace fallow::tool
