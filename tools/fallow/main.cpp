#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include "bench/command.h"
#include "fallow/errors.h"
#include "fallow/options.h"
#include "fallow/version.h"
#include "tools/fallow/demo_command.h"
#include "tools/fallow/device_command.h"
#include "tools/fallow/exit_codes.h"
#include "tools/fallow/log_command.h"
#include "tools/fallow/pressure_command.h"
#include "tools/fallow/record_command.h"
#include "tools/fallow/recording_commands.h"
#include "tools/fallow/recording_files.h"

namespace fallow::tool {
namespace {

constexpr const char* kExamples = R"(Examples:
  fallow demo               index this machine's Python library, and compare
  fallow bench alloc        measure the speed of allocation
  fallow log gc.log         summarise what FALLOW_LOG=gc:gc.log has written
  fallow device replay F    play a trace of device memory (RMM's CSV form)
  fallow record -- CMD      run a program and record where it allocates
  fallow top FILE           who allocates most in a recording; report FILE makes a page of it
  fallow pressure demo      what happens when device memory is short
  fallow options            everything that can be set, as a Markdown table
  fallow demo --help        more about a command

Exit codes: 0 for success, 1 when a check failed or the work could not be finished,
2 for wrong usage. Commands on recordings (record, top, report, …): 0 for success, 1 for wrong usage
and files that cannot be opened or written, 2 when the program or a limit that was asked for failed,
3 when the recording is damaged: what stands before the damage was used.)";

void add_small_commands(CLI::App& app) {
  app.add_subcommand("options", "Lists the options of a heap and their FALLOW_* variables")
      ->callback([] { fmt::print("{}", options_as_markdown()); });
  app.add_subcommand("version", "Prints the version")->callback([] {
    fmt::print("fallow {}\n", kVersion);
  });
}

// The library's own messages may begin with its name already.
int complain(std::string_view problem, int exit_code) {
  constexpr std::string_view kName = "fallow: ";
  if (problem.starts_with(kName)) problem.remove_prefix(kName.size());
  fmt::print(stderr, "{}{}\n", kName, problem);
  return exit_code;
}

bool has_command(const CLI::App& app, std::string_view name) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(commands.begin(), commands.end(),
                     [name](const CLI::App* command) { return command->get_name() == name; });
}

int run(int argc, char** argv) {
  int exit_code = kExitOk;
  CLI::App app("A garbage-collected heap for C++: demonstration and benchmarks");
  app.name("fallow");
  app.set_version_flag("--version", fmt::format("fallow {}", kVersion));
  app.footer(kExamples);
  app.require_subcommand(1);
  add_demo_command(app, exit_code);
  bench::add_bench_command(app, exit_code);
  add_log_command(app, exit_code);
  add_device_command(app, exit_code);
  add_record_command(app, exit_code);
  add_recording_commands(app, exit_code);
  add_pressure_command(app, exit_code);
  add_small_commands(app);
  if (argc < 2) {
    fmt::print(stderr, "{}", app.help());
    return kExitUsage;
  }
  const std::string_view first = argv[1];
  if (!first.starts_with('-') && !has_command(app, first)) {
    return complain(fmt::format("there is no command '{}'; see fallow --help", first), kExitUsage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) == 0) return kExitOk;
    return is_recording_verb(first) ? kRecordingUsage : kExitUsage;
  }
  return exit_code;
}

// What could not be written, to a full disk for example, is not a success.
int finish_output(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  return complain("cannot write the output", exit_code == kExitOk ? kExitFailed : exit_code);
}

}  // namespace
}  // namespace fallow::tool

int main(int argc, char** argv) {
  using namespace fallow::tool;  // NOLINT(google-build-using-namespace)
  try {
    return finish_output(run(argc, argv));
  } catch (const fallow::OptionError& error) {
    return complain(error.what(), kExitUsage);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", kExitFailed);
  } catch (const std::exception& error) {
    return complain(error.what(), kExitFailed);
  }
}
