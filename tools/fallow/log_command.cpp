#include "tools/fallow/log_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>

#include "tools/fallow/exit_codes.h"
#include "tools/fallow/log_report.h"
#include "tools/fallow/log_summary.h"

namespace fallow::tool {
namespace {

constexpr const char* kExamples = R"(
A pause is a section gc-minor, gc-collect-step or gc-collect that lies within no other; a step that
begins within 0.1 ms of the end of a pause is part of it. MMU, minimum mutator utilisation, is the
part of a window in which the program ran, in that window of the given length where it ran least.

Examples:
  FALLOW_LOG=gc:gc.log fallow demo && fallow log gc.log
  fallow log gc.log --histogram
  FALLOW_LOG=gc:- ./program 2>&1 >/dev/null | fallow log - --json)";

struct Arguments {
  std::string file;
  double ticks_per_second = 0;
  bool histogram = false;
  bool json = false;
};

LogSummary summary_of(const Arguments& arguments) {
  std::optional<double> ticks;
  if (arguments.ticks_per_second > 0) ticks = arguments.ticks_per_second;
  if (arguments.file == "-") return summarize_log(std::cin, ticks);
  std::ifstream file(arguments.file);
  if (!file) {
    throw std::runtime_error(
        fmt::format("cannot open '{}': {}", arguments.file, std::strerror(errno)));
  }
  try {
    return summarize_log(file, ticks);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", arguments.file, error.what()));
  }
}

int run_log(const Arguments& arguments) {
  const LogSummary summary = summary_of(arguments);
  fmt::print("{}", arguments.json ? log_as_json(arguments.file, summary)
                                  : log_as_table(summary, arguments.histogram));
  return kExitOk;
}

}  // namespace

void add_log_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const log = app.add_subcommand("log", "Summarises a log of collections");
  log->add_option("file", arguments->file,
                  "Log written under FALLOW_LOG or PYPYLOG; - is standard input")
      ->required();
  log->add_option("--ticks-per-second", arguments->ticks_per_second,
                  "For logs that do not say how long a tick is")
      ->check(CLI::Range(1.0, 1e15));
  log->add_flag("--histogram", arguments->histogram, "Also draws a histogram of each section");
  log->add_flag("--json", arguments->json, "Prints JSON, with histograms, instead of a table");
  log->footer(kExamples);
  log->callback([arguments, &exit_code] { exit_code = run_log(*arguments); });
}

}  // namespace fallow::tool
