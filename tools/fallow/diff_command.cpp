// fallow diff BEFORE AFTER
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "profile/analysis/difference.h"
#include "tools/fallow/exit_codes.h"
#include "tools/fallow/quantity.h"
#include "tools/fallow/recording_commands.h"
#include "tools/fallow/recording_files.h"
#include "tools/fallow/recording_summary.h"
#include "tools/fallow/site_names.h"

namespace fallow::tool {
namespace {

constexpr const char* kExamples = R"(
A difference is called a change when its 95 % interval excludes 0; the others are what sampling alone
may show, and are counted in the last line. Of a thousand places without a change about fifty look
like one: look at the large ones.

Examples:
  fallow diff before.fallow after.fallow
  fallow diff before.fallow after.fallow --by live --fail-on-growth)";

struct Arguments {
  std::string before;
  std::string after;
  std::string by = "alloc";
  double threshold_percent = 0;
  std::size_t count = 20;
  bool fail_on_growth = false;
  bool json = false;
};

std::string signed_amount(double bytes) { return (bytes > 0 ? "+" : "") + format_amount(bytes); }

nlohmann::json change_as_json(const profile::Change& change, const std::string& site) {
  return {{"site", site},
          {"type", change.type},
          {"before", estimate_as_json(change.before)},
          {"after", estimate_as_json(change.after)},
          {"change_bytes", change.bytes()},
          {"low_bytes", change.range.low},
          {"high_bytes", change.range.high},
          {"significant", change.significant()}};
}

std::string line_of(const profile::Change& change, const std::string& site) {
  return fmt::format(
      "{:<14}{:<26}{:<30}{:<30}{}\n", signed_amount(change.bytes()),
      fmt::format("{} to {}", signed_amount(change.range.low), signed_amount(change.range.high)),
      format_estimate(change.before), format_estimate(change.after), site);
}

bool is_shown(const profile::Change& change, const Arguments& arguments) {
  const double larger = std::max(change.before.bytes(), change.after.bytes());
  return change.significant() &&
         std::abs(change.bytes()) >= larger * arguments.threshold_percent / 100;
}

int run_diff(const Arguments& arguments) {
  const profile::Profile before = load_with_progress(arguments.before);
  const profile::Profile after = load_with_progress(arguments.after);
  const auto by =
      arguments.by == "live" ? profile::CompareBy::kLive : profile::CompareBy::kAllocated;
  const profile::Difference difference = difference_of(before, after, by);
  const auto name_of = [&](const profile::Change& change, std::size_t callers) {
    return site_name(change.in_after ? after : before, change.vertex, change.type, callers);
  };
  std::size_t shown = 0;
  nlohmann::json rows = nlohmann::json::array();
  std::string text;
  for (const profile::Change& change : difference.sites) {
    if (!is_shown(change, arguments)) continue;
    if (++shown > arguments.count) continue;
    if (arguments.json) rows.push_back(change_as_json(change, name_of(change, 1000)));
    text += line_of(change, name_of(change, 3));
  }
  if (arguments.json) {
    fmt::print("{}", printed({{"by", arguments.by},
                              {"total", change_as_json(difference.total, "total")},
                              {"changes", shown},
                              {"places", difference.sites.size()},
                              {"rows", std::move(rows)}}));
  } else {
    fmt::print(
        "{:<14}{:<26}{:<30}{:<30}{}\n{}{}", "change", "95 %", "before", "after", "site",
        line_of(difference.total,
                difference.total.significant() ? "total" : "total (within the sampling error)"),
        text);
    fmt::print("\n{} of {} places changed by more than sampling explains\n", shown,
               difference.sites.size());
    std::fflush(stdout);
    suggest(fmt::format("top {}", shell_word(arguments.after)));
  }
  const bool grew = difference.total.range.low > 0;
  if (arguments.fail_on_growth && grew) return kRecordingTargetFailed;
  return std::max(exit_code_of(before.recording), exit_code_of(after.recording));
}

}  // namespace

void add_diff_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const diff = app.add_subcommand("diff", "What changed between two recordings");
  diff->add_option("before", arguments->before, "Recording")->required();
  diff->add_option("after", arguments->after, "Recording")->required();
  diff->add_option("--by", arguments->by, "alloc (all that was allocated) or live (at the end)")
      ->check(CLI::IsMember({"alloc", "live"}));
  diff->add_option("--threshold", arguments->threshold_percent,
                   "Leave out changes below this percentage of the larger side")
      ->check(CLI::Range(0.0, 100.0));
  diff->add_option("-n,--count", arguments->count, "Rows; 20 unless given")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30));
  diff->add_flag("--fail-on-growth", arguments->fail_on_growth,
                 "Exit with 2 when the total has grown by more than sampling explains");
  diff->add_flag("--json", arguments->json, "Prints JSON");
  diff->footer(kExamples);
  diff->callback(
      [arguments, &exit_code] { exit_code = guarded([&] { return run_diff(*arguments); }); });
}

}  // namespace fallow::tool
