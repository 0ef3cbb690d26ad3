#include "tools/fallow/log_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>

#include "bench/output_file.h"
#include "fallow/errors.h"
#include "tools/fallow/exit_codes.h"
#include "tools/fallow/log_page.h"
#include "tools/fallow/log_picture.h"
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
  fallow log gc.log --html gc.html --svg gc.svg
  FALLOW_LOG=gc:- ./program 2>&1 >/dev/null | fallow log - --json)";

struct Arguments {
  std::string file;
  double ticks_per_second = 0;
  bool histogram = false;
  bool json = false;
  std::optional<std::string> svg;
  std::optional<std::string> html;
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

// The files that are asked for, opened before the log is read.
class Pictures {
 public:
  explicit Pictures(const Arguments& arguments) : log_(arguments.file) {
    if (arguments.svg) svg_.emplace(*arguments.svg);
    if (arguments.html) html_.emplace(*arguments.html);
    if (svg_) keep_apart(svg_->path(), log_);
    if (html_) keep_apart(html_->path(), log_);
    if (svg_ && html_) keep_apart(svg_->path(), html_->path());
  }

  void write(const LogSummary& summary) {
    if (svg_) svg_->write(log_as_svg(log_, summary));
    if (html_) html_->write(log_as_html(log_, summary));
  }

 private:
  static void keep_apart(const std::string& picture, const std::string& other) {
    std::error_code one_is_missing;
    if (std::filesystem::is_regular_file(picture, one_is_missing) &&
        std::filesystem::equivalent(picture, other, one_is_missing)) {
      throw OptionError(fmt::format("'{}' would overwrite '{}'", picture, other));
    }
  }

  std::string log_;
  std::optional<bench::OutputFile> svg_;
  std::optional<bench::OutputFile> html_;
};

int run_log(const Arguments& arguments) {
  Pictures pictures(arguments);
  const LogSummary summary = summary_of(arguments);
  fmt::print("{}", arguments.json ? log_as_json(arguments.file, summary)
                                  : log_as_table(summary, arguments.histogram));
  // Whatever becomes of the pictures, the figures are out.
  std::fflush(stdout);
  pictures.write(summary);
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
  log->add_option("--svg", arguments->svg, "Also draws pauses and memory over time into this file")
      ->option_text("FILE");
  log->add_option("--html", arguments->html,
                  "Also writes this page: the picture, the tables, the histograms")
      ->option_text("FILE");
  log->footer(kExamples);
  log->callback([arguments, &exit_code] { exit_code = run_log(*arguments); });
}

}  // namespace fallow::tool
