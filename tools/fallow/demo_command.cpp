#include "tools/fallow/demo_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <vector>

#include "platform/environment.h"
#include "telemetry/size_parser.h"
#include "tools/fallow/default_directories.h"
#include "tools/fallow/exit_codes.h"
#include "tools/fallow/progress.h"
#include "tools/fallow/report.h"
#include "tools/fallow/text_files.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

constexpr std::uint32_t kMostRounds = 1000;

constexpr const char* kDescription =
    "Indexes texts in a managed heap and compares with standard containers";

constexpr const char* kExplanation =
    R"(Indexes every text file below DIR in a managed heap, asks the index some questions, and compares
contents, answers and costs with an index on standard containers.

DIR defaults to the sources of this machine's Python library, or to /usr/share/doc and
/usr/include. Binary, empty and unreadable files are counted and left out; symbolic links are
not followed. The FALLOW_* variables configure the heap: see `fallow options`.

Examples:
  fallow demo                             index the default texts
  fallow demo ~/src --repeat 5            medians of five rounds
  fallow demo --json | jq .fallow         for programs
  FALLOW_NURSERY=64K fallow demo --check  with a small nursery; verify the heap at the end

Exit codes: 0 when both indexes agree (and the heap is in order), 1 when not, 2 for wrong usage.)";

// The directories to read; empty after a complaint on standard error.
std::vector<std::string> choose_directories(const DemoArguments& arguments) {
  if (!arguments.directory.empty()) {
    const std::string problem = directory_problem(arguments.directory);
    if (problem.empty()) return {arguments.directory};
    fmt::print(stderr, "fallow demo: {}\n", problem);
    return {};
  }
  DefaultPlaces places;
  places.path = platform::environment("PATH").value_or("");
  std::vector<std::string> found = default_directories(places);
  if (found.empty()) {
    fmt::print(stderr,
               "fallow demo: no Python library, /usr/share/doc or /usr/include here; "
               "name a directory of texts\n");
  }
  return found;
}

TextFiles read_texts(const std::vector<std::string>& directories, const DemoArguments& arguments,
                     Progress& progress) {
  ReadOptions options;
  options.max_bytes = arguments.max_bytes;
  if (arguments.directory.empty()) {
    // Packages that were installed into the default library are not part of it.
    options.skipped_directories = {"site-packages", "dist-packages"};
  }
  options.progress = [&progress](const TextFiles& found) {
    if (!progress.is_due()) return;
    progress.show("reading",
                  fmt::format("{}, {}", format_count(found.files.size(), "file", "files"),
                              telemetry::format_bytes(found.bytes)));
  };
  return read_text_files(directories, options);
}

// Accepts what HeapOptions accept, such as "64M", and turns it into digits for CLI11.
std::string size_in_digits(const std::string& text) {
  const telemetry::ParsedSize size = telemetry::parse_size(text);
  if (!size) throw CLI::ValidationError(size.error);
  return std::to_string(*size.bytes);
}

}  // namespace

int exit_code_of(const Measurement& measurement) {
  const bool in_order =
      measurement.comparison.identical() && measurement.verification.complaints.empty();
  return in_order ? kExitOk : kExitFailed;
}

int run_demo(const DemoArguments& arguments) {
  MeasurementOptions options;
  options.heap = HeapOptions::from_environment();
  options.rounds = arguments.rounds;
  options.verify = arguments.check;
  const std::vector<std::string> directories = choose_directories(arguments);
  if (directories.empty()) return kExitUsage;

  Progress progress;
  const TextFiles texts = read_texts(directories, arguments, progress);
  const Measurement measurement = measure(texts, options, progress);
  progress.clear();
  const ReportInput input{directories, texts, measurement};
  fmt::print("{}", arguments.json ? report_as_json(input) : report_as_text(input));
  return exit_code_of(measurement);
}

void add_demo_command(CLI::App& app, int& exit_code) {
  CLI::App* const command = app.add_subcommand("demo", kDescription);
  command->footer(kExplanation);
  const auto arguments = std::make_shared<DemoArguments>();
  command->add_option("DIR", arguments->directory, "Directory of texts")
      ->check([](const std::string& text) {
        return text.empty() ? std::string("the name of the directory is empty") : std::string();
      });
  command->add_option("--max-bytes", arguments->max_bytes, "Read at most this much text (256M)")
      ->option_text("SIZE")
      ->transform(size_in_digits);
  command->add_option("--repeat", arguments->rounds, "Measure this many rounds (1)")
      ->option_text("N")
      ->check(CLI::Range(std::uint32_t{1}, kMostRounds));
  command->add_flag("--json", arguments->json, "Print one JSON object");
  command->add_flag("--check", arguments->check, "Verify the heap at the end");
  command->callback([arguments, &exit_code] { exit_code = run_demo(*arguments); });
}

}  // namespace fallow::tool
