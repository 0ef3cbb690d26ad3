#include "tools/fallow/record_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fallow/profile.h"
#include "profile/analysis/recording_reader.h"
#include "telemetry/size_parser.h"
#include "tools/fallow/recorded_process.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

constexpr const char* kExamples = R"(
Runs COMMAND and records where it allocates. Programs that link fallow::profile are recorded with
their heaps; of all others malloc is, by a library in front of theirs (LD_PRELOAD). Code built
without -fno-omit-frame-pointer hides the callers of its functions.

Examples:
  fallow record -- ./program --its --options
  fallow record -o run.fallow --every 64K -- ./program
  fallow record --budget 0.5% --time 1000Hz --follow-fork -- make

Exit codes: that of COMMAND (128 + N if signal N ended it); 1 for wrong usage, 2 when COMMAND could
not be started.)";

constexpr int kWrongUsage = 1;
constexpr int kNotStarted = 2;

struct Arguments {
  std::vector<std::string> command;
  std::string output;
  std::string every;
  std::string budget;
  std::string time;
  std::string native;
  std::string max_size;
  std::string seed;
  bool follow_fork = false;
  bool force = false;
  bool quiet = false;
};

// What FALLOW_PROFILE says behind the file's name.
std::string options_text(const Arguments& arguments) {
  std::string text;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += fmt::format(",{}={}", key, value);
  };
  add("every", arguments.every);
  add("budget", arguments.budget);
  add("time", arguments.time);
  add("native", arguments.native);
  add("max-size", arguments.max_size);
  add("seed", arguments.seed);
  if (arguments.follow_fork) text += ",follow-fork";
  return text;
}

int complain(const std::string& problem, int exit_code) {
  fmt::print(stderr, "fallow: {}\n", problem);
  return exit_code;
}

// Why nothing can be recorded this way, or nothing.
std::string usage_problem(const Arguments& arguments, const std::string& options) {
  if (arguments.output.find(',') != std::string::npos) {
    return "a name with a comma cannot be given to the program; choose another one";
  }
  try {
    profile::RecorderOptions::from_text("x" + options);
  } catch (const OptionError& error) {
    std::string text = error.what();
    constexpr std::string_view kName = "fallow: ";
    if (text.starts_with(kName)) text.erase(0, kName.size());
    return text;
  }
  if (!arguments.output.empty() && !arguments.force && std::filesystem::exists(arguments.output)) {
    return fmt::format("'{}' exists already; -f replaces it", arguments.output);
  }
  return {};
}

void print_summary(const std::string& file) {
  profile::Recording recording;
  try {
    recording = profile::read_recording_file(file);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fallow: nothing was recorded: {}\n", error.what());
    return;
  }
  double bytes = 0;
  for (const profile::Sample& sample : recording.samples) {
    const auto size = static_cast<double>(sample.bytes);
    bytes += size / -std::expm1(-size / static_cast<double>(recording.interval_of(sample)));
  }
  double lost = 0;
  for (const profile::Loss& loss : recording.losses) lost += loss.samples;
  fmt::print(stderr, "fallow: {} of samples in {}\n", telemetry::format_bytes(recording.file_bytes),
             file);
  fmt::print(stderr, "  {} samples, {} lost; they stand for {}\n",
             format_count(recording.samples.size()), format_count(static_cast<std::uint64_t>(lost)),
             telemetry::format_bytes(static_cast<std::uint64_t>(bytes)));
  if (recording.self && recording.self->process_ns != 0) {
    const auto own = static_cast<double>(recording.self->sampling_ns + recording.self->writer_ns);
    fmt::print(stderr, "  the recorder took {:.2f} % of the CPU time and {} of memory\n",
               100 * own / static_cast<double>(recording.self->process_ns),
               telemetry::format_bytes(recording.self->bytes_held));
  }
  fmt::print(stderr, "Next: fallow top {}\n", file);
}

int run_record(const Arguments& arguments) {
  const std::string options = options_text(arguments);
  const std::string problem = usage_problem(arguments, options);
  if (!problem.empty()) return complain(problem, kWrongUsage);
  RecordedProcess process;
  process.command = arguments.command;
  process.file = arguments.output;
  process.options = options;
  const ProcessEnd end = run_recorded(process);
  if (!end.start_error.empty()) return complain(end.start_error, kNotStarted);
  if (!arguments.quiet) print_summary(end.file);
  return end.exit_code;
}

}  // namespace

void add_record_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const record =
      app.add_subcommand("record", "Runs a program and records where it allocates");
  record->footer(kExamples);
  record->add_option("-o,--output", arguments->output,
                     "File of the recording (default COMMAND.PID.fallow)");
  record->add_flag("-f,--force", arguments->force, "Replace a file that exists");
  record->add_option("--every", arguments->every,
                     "Mean bytes between samples, such as 64K (default: as the budget permits)");
  record->add_option("--budget", arguments->budget,
                     "Part of the CPU time that recording may take (default 1%)");
  record->add_option("--time", arguments->time, "Sample time as well: off, or a rate as 1000Hz");
  record->add_option("--native", arguments->native, "Native stacks: fp, fast, copy, off");
  record->add_option("--max-size", arguments->max_size, "Upper bound of the file's size");
  record->add_option("--seed", arguments->seed, "Of the random numbers (default 0)");
  record->add_flag("--follow-fork", arguments->follow_fork,
                   "Record child processes, too, each into FILE.PID");
  record->add_flag("-q,--quiet", arguments->quiet, "Print nothing at the end");
  record->add_option("command", arguments->command, "The program and its arguments")->required();
  record->callback([arguments, &exit_code] { exit_code = run_record(*arguments); });
}

}  // namespace fallow::tool
