#include "tools/fallow/pressure_command.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "tools/fallow/exit_codes.h"

namespace fallow::tool {
namespace {

constexpr const char* kExplanation = R"(
Five scenarios on a small device in software: dropped references, true out of memory, GIL hand-off,
cycles, many threads. They are about Python's garbage, so they are played by the Python package,
which `pip install .` installs; this command finds it and hands over.

Examples:
  fallow pressure demo
  fallow pressure demo --chart pressure.svg
  fallow pressure demo --python ~/venv/bin/python --json | jq '.scenarios[].verdict'

Exit codes: 0 when every scenario held, 1 when one did not or the package is not there,
2 for wrong usage.)";

struct Arguments {
  std::string python = "python3";
  std::string chart;
  bool json = false;
};

std::vector<char*> as_argv(std::vector<std::string>& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return argv;
}

/// Becomes the program, if there is one; does not return then.
void become(std::vector<std::string> words) {
  const std::vector<char*> argv = as_argv(words);
  execvp(argv.front(), argv.data());
}

/// What the program ended with; 127 when there is none.
int exit_code_of(const std::vector<std::string>& words) {
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "cannot start a process");
  if (child == 0) {
    // Its complaint would only repeat what is said below.
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(127);
    become(words);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

int run_demo(const Arguments& arguments) {
  const int found = exit_code_of({arguments.python, "-c", "import fallow.pressure.demo"});
  if (found != 0) {
    fmt::print(stderr, "fallow pressure demo: {}\n",
               found == 127
                   ? fmt::format("cannot run '{}'; name another with --python", arguments.python)
                   : fmt::format("'{}' does not find the package fallow: install it with "
                                 "'{} -m pip install .', or name another Python with --python",
                                 arguments.python, arguments.python));
    return kExitFailed;
  }
  std::vector<std::string> words = {arguments.python, "-m", "fallow.pressure", "demo"};
  if (arguments.json) words.emplace_back("--json");
  if (!arguments.chart.empty()) words.insert(words.end(), {"--chart", arguments.chart});
  std::fflush(stdout);
  become(std::move(words));
  throw std::system_error(errno, std::generic_category(), "cannot run " + arguments.python);
}

}  // namespace

void add_pressure_command(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* const command =
      app.add_subcommand("pressure", "Shows what happens when device memory is short");
  command->require_subcommand(1);
  CLI::App* const demo = command->add_subcommand("demo", "Plays five scenarios; did each hold?");
  demo->add_option("--python", arguments->python, "Python in which fallow is installed (python3)")
      ->option_text("PROGRAM");
  demo->add_option("--chart", arguments->chart, "Write a picture, in SVG")->option_text("FILE");
  demo->add_flag("--json", arguments->json, "Prints JSON instead of a table");
  demo->footer(kExplanation);
  demo->callback([arguments, &exit_code] { exit_code = run_demo(*arguments); });
}

}  // namespace fallow::tool
