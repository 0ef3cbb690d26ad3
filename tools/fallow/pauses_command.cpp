// fallow pauses FILE
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "profile/analysis/pauses.h"
#include "tools/fallow/exit_codes.h"
#include "tools/fallow/quantity.h"
#include "tools/fallow/recording_commands.h"
#include "tools/fallow/recording_files.h"
#include "tools/fallow/recording_summary.h"
#include "tools/fallow/site_names.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

constexpr const char* kExamples = R"(
MMU, minimum mutator utilisation: the part of a window in which the program ran, in that window of
the given length where it ran least.

Examples:
  fallow pauses run.fallow
  fallow pauses run.fallow --fail-over 10    exits with 2 when a pause took more than 10 ms)";

struct Arguments {
  std::string file;
  std::size_t longest = 5;
  double fail_over_ms = 0;
  bool json = false;
};

nlohmann::json pause_as_json(const profile::Pause& pause) {
  return {{"kind", kind_name(pause.kind)},
          {"begin_ns", pause.begin_ns()},
          {"wall_ns", pause.wall_ns},
          {"cpu_ns", pause.cpu_ns},
          {"heap", pause.heap},
          {"number", pause.number},
          {"bytes_before", pause.bytes_before},
          {"bytes_after", pause.bytes_after}};
}

nlohmann::json as_json(const profile::Recording& recording, const profile::PauseSummary& summary) {
  nlohmann::json json = {{"kinds", nlohmann::json::array()},
                         {"utilisation", nlohmann::json::array()},
                         {"longest", nlohmann::json::array()}};
  for (const profile::PauseRow& row : summary.rows) {
    json["kinds"].push_back({{"kind", kind_name(row.kind)},
                             {"count", row.count},
                             {"p50_ns", row.p50_ns},
                             {"p99_ns", row.p99_ns},
                             {"max_ns", row.max_ns},
                             {"total_ns", row.total_ns},
                             {"cpu_ns", row.cpu_ns}});
  }
  for (const profile::Utilisation& mmu : summary.utilisation) {
    json["utilisation"].push_back({{"window_ms", mmu.window_ms}, {"part", mmu.part}});
  }
  for (const std::uint32_t index : summary.longest) {
    json["longest"].push_back(pause_as_json(recording.pauses[index]));
  }
  return json;
}

void print_tables(const profile::Recording& recording, const profile::PauseSummary& summary) {
  fmt::print("\n{:<8}{:>10}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "pauses", "count", "p50", "p99",
             "max", "total", "CPU");
  for (const profile::PauseRow& row : summary.rows) {
    fmt::print("{:<8}{:>10}{:>12}{:>12}{:>12}{:>12}{:>12}\n", kind_name(row.kind),
               format_count(row.count), format_nanoseconds(row.p50_ns),
               format_nanoseconds(row.p99_ns), format_nanoseconds(row.max_ns),
               format_nanoseconds(row.total_ns), format_nanoseconds(row.cpu_ns));
  }
  fmt::print("\nMMU   ");
  for (const profile::Utilisation& mmu : summary.utilisation) {
    fmt::print("  {} ms {:.1f} %", mmu.window_ms, mmu.part * 100);
  }
  fmt::print("\n\nlongest\n");
  for (const std::uint32_t index : summary.longest) {
    const profile::Pause& pause = recording.pauses[index];
    fmt::print("{:<8}{:>12}  at {:>8.3f} s   collection {}, {} before, {} {}\n",
               kind_name(pause.kind), format_nanoseconds(pause.wall_ns),
               static_cast<double>(pause.begin_ns()) * 1e-9, pause.number,
               format_amount(static_cast<double>(pause.bytes_before)),
               format_amount(static_cast<double>(pause.bytes_after)),
               pause.kind == profile::PauseKind::kMinor ? "survived" : "after");
  }
}

int run_pauses(const Arguments& arguments) {
  const profile::Profile profile = load_with_progress(arguments.file);
  const profile::PauseSummary summary =
      pauses_of(profile.recording, std::max<std::size_t>(arguments.longest, 1));
  if (arguments.json) {
    nlohmann::json json = summary_as_json(arguments.file, profile);
    json["pauses"] = as_json(profile.recording, summary);
    fmt::print("{}", printed(json));
  } else {
    fmt::print("{}", summary_lines(arguments.file, profile));
    if (summary.rows.empty()) {
      fmt::print("\nno pauses were recorded\n");
    } else {
      print_tables(profile.recording, summary);
    }
    std::fflush(stdout);
    suggest(fmt::format("report {}", shell_word(arguments.file)));
  }
  const bool too_long = arguments.fail_over_ms > 0 && !summary.longest.empty() &&
                        static_cast<double>(profile.recording.pauses[summary.longest[0]].wall_ns) >
                            arguments.fail_over_ms * 1e6;
  if (too_long) {
    fmt::print(stderr, "fallow: a pause took more than {} ms\n", arguments.fail_over_ms);
    return kRecordingTargetFailed;
  }
  return exit_code_of(profile.recording);
}

}  // namespace

void add_pauses_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const pauses = app.add_subcommand("pauses", "What stopped the program in a recording");
  pauses->add_option("file", arguments->file, "Recording")->required();
  pauses->add_option("-n,--count", arguments->longest, "Longest pauses to list; 5 unless given")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 30));
  pauses
      ->add_option("--fail-over", arguments->fail_over_ms,
                   "Exit with 2 when a pause is longer than this, in milliseconds")
      ->check(CLI::PositiveNumber);
  pauses->add_flag("--json", arguments->json, "Prints JSON");
  pauses->footer(kExamples);
  pauses->callback(
      [arguments, &exit_code] { exit_code = guarded([&] { return run_pauses(*arguments); }); });
}

}  // namespace fallow::tool
