// fallow export FILE -o X and fallow report FILE
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>

#include "fallow/error.h"
#include "profile/export/exporter.h"
#include "tools/fallow/quantity.h"
#include "tools/fallow/recording_commands.h"
#include "tools/fallow/recording_files.h"
#include "tools/fallow/site_names.h"

namespace fallow::tool {
namespace {

constexpr const char* kExportExamples = R"(
The end of the name picks the format:
  .json.gz          Firefox Profiler (fallow view opens it there)
  .pb.gz            pprof
  .speedscope.json  speedscope
  .folded           collapsed stacks, for flame graphs
  .csv              a table of places
  .html             the page of fallow report

Examples:
  fallow export run.fallow -o run.pb.gz && go tool pprof -http=: run.pb.gz
  fallow export run.fallow -o live.folded --weight live)";

constexpr const char* kReportExamples = R"(
One page that needs no network: who allocates, what survives, what pauses.

Examples:
  fallow report run.fallow                   writes run.fallow.html
  fallow report run.fallow -o page.html -f)";

struct Arguments {
  std::string file;
  std::string output;
  std::string weight = "alloc";
  std::size_t max_rows = 0;
  bool force = false;
};

profile::ExportOptions options_of(const Arguments& arguments) {
  profile::ExportOptions options;
  options.max_rows = arguments.max_rows;
  if (arguments.weight == "live") options.weight = profile::ExportWeight::kLive;
  if (arguments.weight == "died") options.weight = profile::ExportWeight::kDied;
  return options;
}

std::string next_of(profile::ExportFormat format, const std::string& input,
                    const std::string& output) {
  switch (format) {
    case profile::ExportFormat::kFirefox:
      return "fallow view " + input;
    case profile::ExportFormat::kPprof:
      return "go tool pprof -top " + output;
    case profile::ExportFormat::kSpeedscope:
      return "speedscope " + output;
    case profile::ExportFormat::kHtml:
      return "xdg-open " + output;
    default:
      return "fallow report " + input;
  }
}

int run_export(const Arguments& arguments) {
  const auto format = profile::export_format_of(arguments.output);
  if (!format) {
    throw OptionError(
        fmt::format("'{}' ends with none of {}", arguments.output, profile::kExportEndings));
  }
  check_output(arguments.output, arguments.force, arguments.file);
  const profile::Profile profile = load_with_progress(arguments.file);
  profile::FileSink sink(arguments.output);
  export_profile(profile, *format, options_of(arguments), sink);
  const profile::Breakdown total = total_of(profile);
  fmt::print("wrote {}: {} in {} stacks\n", arguments.output, format_estimate(total.allocated),
             profile.tree.vertices.size() - 1);
  std::fflush(stdout);
  fmt::print(stderr, "next: {}\n",
             next_of(*format, shell_word(arguments.file), shell_word(arguments.output)));
  return exit_code_of(profile.recording);
}

int run_report(Arguments arguments) {
  if (arguments.output.empty()) arguments.output = arguments.file + ".html";
  if (!arguments.output.ends_with(".html")) {
    throw OptionError(fmt::format("'{}' does not end with .html", arguments.output));
  }
  return run_export(arguments);
}

}  // namespace

void add_export_commands(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const to = app.add_subcommand("export", "Writes a recording for other tools");
  to->add_option("file", arguments->file, "Recording")->required();
  to->add_option("-o,--output", arguments->output, "File to write; its name picks the format")
      ->required()
      ->option_text("FILE");
  to->add_option("--weight", arguments->weight,
                 "For .folded: alloc, live (at the end) or died (in the nursery)")
      ->check(CLI::IsMember({"alloc", "live", "died"}));
  to->add_option("--max-rows", arguments->max_rows,
                 "For .folded, .csv and .speedscope.json: smaller stacks become one, (other)");
  to->add_flag("-f,--force", arguments->force, "Overwrite a file that exists");
  to->footer(kExportExamples);
  to->callback(
      [arguments, &exit_code] { exit_code = guarded([&] { return run_export(*arguments); }); });

  auto page = std::make_shared<Arguments>();
  CLI::App* const report = app.add_subcommand("report", "Writes a recording as one HTML page");
  report->add_option("file", page->file, "Recording")->required();
  report->add_option("-o,--output", page->output, "Page to write; FILE.html unless given")
      ->option_text("FILE");
  report->add_flag("-f,--force", page->force, "Overwrite a page that exists");
  report->footer(kReportExamples);
  report->callback([page, &exit_code] { exit_code = guarded([&] { return run_report(*page); }); });
}

}  // namespace fallow::tool
