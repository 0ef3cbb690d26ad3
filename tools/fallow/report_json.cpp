#include <nlohmann/json.hpp>

#include "fallow/version.h"
#include "tools/fallow/report.h"

namespace fallow::tool {
namespace {

using Json = nlohmann::ordered_json;

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

Json corpus_json(const TextFiles& texts, const Measurement& result) {
  return {{"files", texts.files.size()},    {"bytes", texts.bytes},
          {"words", result.words},          {"distinct_words", result.distinct_words},
          {"binary_files", texts.binary},   {"empty_files", texts.empty},
          {"unreadable", texts.unreadable}, {"links", texts.links},
          {"special_files", texts.special}, {"files_beyond_limit", texts.beyond_limit}};
}

void add_duration(Json& to, const std::string& name, const std::vector<Round>& rounds,
                  const std::function<Duration(const Round&)>& duration) {
  const auto add = [&](const std::string& metric, double Duration::* clock) {
    const Spread spread =
        spread_of(rounds, [&](const Round& round) { return duration(round).*clock; });
    to[metric] = spread.median;
    to[metric + "_min"] = spread.min;
    to[metric + "_max"] = spread.max;
  };
  add(name + "_wall_s", &Duration::wall_s);
  add(name + "_cpu_s", &Duration::cpu_s);
}

Json costs_json(const Measurement& result, Costs Round::* index) {
  Json json = Json::object();
  const auto add = [&](const char* name, Duration Costs::* what) {
    add_duration(json, name, result.rounds, [&](const Round& round) { return round.*index.*what; });
  };
  add("build", &Costs::build);
  add("queries", &Costs::queries);
  add("release", &Costs::release);
  if (result.has_peaks) {
    const Spread bytes = spread_of(result.rounds, [&](const Round& round) {
      return static_cast<double>((round.*index).peak_growth_bytes);
    });
    json["peak_growth_bytes"] = static_cast<std::uint64_t>(bytes.max);
  } else {
    json["peak_growth_bytes"] = nullptr;
  }
  return json;
}

Json pauses_json(const PauseSummary& pauses) {
  return {{"count", pauses.count},
          {"p50_us", microseconds(pauses.p50_ns)},
          {"p99_us", microseconds(pauses.p99_ns)},
          {"p999_us", microseconds(pauses.p999_ns)},
          {"max_us", microseconds(pauses.max_ns)},
          {"total_us", microseconds(pauses.total_ns)}};
}

Json heap_json(const Round& round) {
  const HeapStatistics& heap = round.heap;
  const double wall_s = round.managed.build.wall_s;
  return {
      {"nursery_bytes", heap.nursery},
      {"allocated_bytes", heap.allocated},
      {"allocated_bytes_per_s", wall_s > 0 ? static_cast<double>(heap.allocated) / wall_s : 0.0},
      {"promoted_bytes", heap.promoted},
      {"committed_bytes", heap.committed},
      {"minor_collections", heap.minor_collections},
      {"full_collections", heap.full_collections},
      {"minor_pauses_wall", pauses_json(heap.minor_wall)},
      {"minor_pauses_cpu", pauses_json(heap.minor_cpu)},
      {"full_pauses_wall", pauses_json(heap.full_wall)},
      {"full_pauses_cpu", pauses_json(heap.full_cpu)}};
}

Json questions_json(const std::vector<Answer>& answers) {
  Json json = Json::array();
  for (const Answer& answer : answers) {
    Json items = Json::array();
    for (const AnswerItem& item : answer.items) {
      items.push_back(
          {{"text", item.text}, {"occurrences", item.occurrences}, {"files", item.files}});
    }
    json.push_back({{"question", answer.question}, {"items", std::move(items)}});
  }
  return json;
}

}  // namespace

std::string report_as_json(const ReportInput& input) {
  const Measurement& result = input.measurement;
  const Comparison& comparison = result.comparison;
  Json json = {{"version", kVersion},
               {"directories", input.directories},
               {"corpus", corpus_json(input.texts, result)},
               {"rounds", result.rounds.size()},
               {"fallow", costs_json(result, &Round::managed)},
               {"standard", costs_json(result, &Round::standard)},
               {"questions", questions_json(result.answers)},
               {"comparison",
                {{"identical", comparison.identical()},
                 {"words", comparison.words},
                 {"postings", comparison.postings},
                 {"answers", comparison.answers},
                 {"difference_count", comparison.difference_count},
                 {"differences", comparison.differences}}}};
  json["fallow"]["heap"] = heap_json(median_round(result.rounds));
  if (result.verified) {
    json["verification"] = {{"objects", result.verification.objects},
                            {"bytes", result.verification.bytes},
                            {"complaints", result.verification.complaints}};
  }
  // A path need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fallow::tool
