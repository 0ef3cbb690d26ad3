// fallow survival FILE
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "profile/analysis/survival.h"
#include "profile/export/clean_text.h"
#include "tools/fallow/quantity.h"
#include "tools/fallow/recording_commands.h"
#include "tools/fallow/recording_files.h"
#include "tools/fallow/recording_summary.h"
#include "tools/fallow/site_names.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

constexpr const char* kExamples = R"(
median age: by then half of the bytes are dead, counted so that what is still alive at the end has
lived at least as long as it was watched (Kaplan and Meier). "–": more than half outlive the recording.

Examples:
  fallow survival run.fallow
  fallow survival run.fallow --min 1 --json)";

struct Arguments {
  std::string file;
  double min_percent = 0;
  bool json = false;
};

nlohmann::json row_as_json(const profile::SurvivalRow& row, const std::string& name) {
  nlohmann::json json = breakdown_as_json(row.bytes);
  json["type"] = name;
  json["median_age_ns"] = nullptr;
  if (row.median_age_ns) json["median_age_ns"] = *row.median_age_ns;
  json["oldest_ns"] = row.oldest_ns;
  return json;
}

void print_row(const profile::SurvivalRow& row, const std::string& name) {
  const double allocated = row.bytes.allocated.bytes();
  fmt::print("{:<34}{:>8}{:>8}{:>8}{:>8}  {:>10}  {}\n", format_estimate(row.bytes.allocated),
             format_part(row.bytes.died_young.bytes(), allocated),
             format_part(row.bytes.tenured.bytes(), allocated),
             format_part(row.bytes.died_later.bytes(), allocated),
             format_part(row.bytes.live.bytes(), allocated), format_age(row.median_age_ns),
             profile::one_line(name));
}

int run_survival(const Arguments& arguments) {
  const profile::Profile profile = load_with_progress(arguments.file);
  const double least = total_of(profile).allocated.bytes() * arguments.min_percent / 100;
  nlohmann::json rows = nlohmann::json::array();
  if (!arguments.json) {
    fmt::print("{}\n{:<34}{:>8}{:>8}{:>8}{:>8}  {:>10}  {}\n",
               summary_lines(arguments.file, profile), "allocated", "young", "old", "later",
               "alive", "median age", "type");
  }
  for (const profile::SurvivalRow& row : survival_of(profile)) {
    if (row.bytes.allocated.bytes() < least) continue;
    const std::string name = row.type == 0 ? "(no type)" : profile.type_name(row.type);
    if (arguments.json) {
      rows.push_back(row_as_json(row, name));
    } else {
      print_row(row, name);
    }
  }
  if (arguments.json) {
    nlohmann::json json = summary_as_json(arguments.file, profile);
    json["rows"] = std::move(rows);
    fmt::print("{}", printed(json));
  } else {
    std::fflush(stdout);
    suggest(fmt::format("leaks {0}    or: fallow report {0}", shell_word(arguments.file)));
  }
  return exit_code_of(profile.recording);
}

}  // namespace

void add_survival_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const survival =
      app.add_subcommand("survival", "What becomes of objects in a recording, by type");
  survival->add_option("file", arguments->file, "Recording")->required();
  survival->add_option("--min", arguments->min_percent, "Leave out types below this percentage")
      ->check(CLI::Range(0.0, 100.0));
  survival->add_flag("--json", arguments->json, "Prints JSON");
  survival->footer(kExamples);
  survival->callback(
      [arguments, &exit_code] { exit_code = guarded([&] { return run_survival(*arguments); }); });
}

}  // namespace fallow::tool
