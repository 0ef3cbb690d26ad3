// fallow leaks FILE
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "profile/analysis/leaks.h"
#include "tools/fallow/exit_codes.h"
#include "tools/fallow/quantity.h"
#include "tools/fallow/recording_commands.h"
#include "tools/fallow/recording_files.h"
#include "tools/fallow/recording_summary.h"
#include "tools/fallow/site_names.h"

namespace fallow::tool {
namespace {

constexpr const char* kExamples = R"(
Lists places whose live bytes keep growing: they rise in all but one of seven equal parts of the
recording, and by more in its second half than sampling explains. Objects that are still young are
left out. A cache that fills up looks the same as a leak: these are places to look at.

Examples:
  fallow leaks run.fallow
  fallow leaks run.fallow --fail-over 1M     exits with 2 when something grows by more a second)";

struct Arguments {
  std::string file;
  std::uint64_t fail_over = 0;
  bool json = false;
};

nlohmann::json as_json(const profile::Profile& profile, const profile::Leak& leak) {
  const std::string type = leak.site.type == 0 ? "" : profile.type_name(leak.site.type);
  return {{"site", site_name(profile, leak.site.vertex, type, 1000)},
          {"type", type},
          {"bytes_per_second", leak.bytes_per_second},
          {"growth_bytes", leak.growth_bytes},
          {"growth_low_bytes", leak.growth_range.low},
          {"growth_high_bytes", leak.growth_range.high},
          {"live", estimate_as_json(leak.site.bytes.live)}};
}

void print_leaks(const profile::Profile& profile, const std::vector<profile::Leak>& leaks) {
  if (leaks.empty()) {
    fmt::print("\nnothing keeps growing beyond what sampling explains\n");
    return;
  }
  fmt::print("\n{:<18}{:<28}{:<32}{}\n", "growth", "95 %, second half", "alive at the end", "site");
  for (const profile::Leak& leak : leaks) {
    const std::string type = leak.site.type == 0 ? "" : profile.type_name(leak.site.type);
    fmt::print("{:<18}{:<28}{:<32}{}\n", format_amount(leak.bytes_per_second) + "/s",
               fmt::format("{} to {}", format_amount(leak.growth_range.low),
                           format_amount(leak.growth_range.high)),
               format_estimate(leak.site.bytes.live),
               site_name(profile, leak.site.vertex, type, 3));
  }
}

int run_leaks(const Arguments& arguments) {
  const profile::Profile profile = load_with_progress(arguments.file);
  const std::vector<profile::Leak> leaks = leaks_of(profile);
  if (arguments.json) {
    nlohmann::json json = summary_as_json(arguments.file, profile);
    json["leaks"] = nlohmann::json::array();
    for (const profile::Leak& leak : leaks) json["leaks"].push_back(as_json(profile, leak));
    fmt::print("{}", printed(json));
  } else {
    fmt::print("{}", summary_lines(arguments.file, profile));
    print_leaks(profile, leaks);
    std::fflush(stdout);
    suggest(fmt::format("top {} --sort live", shell_word(arguments.file)));
  }
  if (arguments.fail_over != 0 && !leaks.empty() &&
      leaks.front().bytes_per_second > static_cast<double>(arguments.fail_over)) {
    fmt::print(stderr, "fallow: a site grows by more than {} a second\n",
               format_amount(static_cast<double>(arguments.fail_over)));
    return kRecordingTargetFailed;
  }
  return exit_code_of(profile.recording);
}

}  // namespace

void add_leaks_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const leaks =
      app.add_subcommand("leaks", "Places of a recording whose live bytes keep growing");
  leaks->add_option("file", arguments->file, "Recording")->required();
  leaks
      ->add_option("--fail-over", arguments->fail_over,
                   "Exit with 2 when a place grows by more bytes a second")
      ->transform(CLI::AsSizeValue(false));
  leaks->add_flag("--json", arguments->json, "Prints JSON");
  leaks->footer(kExamples);
  leaks->callback(
      [arguments, &exit_code] { exit_code = guarded([&] { return run_leaks(*arguments); }); });
}

}  // namespace fallow::tool
