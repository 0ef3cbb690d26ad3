// fallow view FILE
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "profile/export/exporter.h"
#include "tools/fallow/one_file_server.h"
#include "tools/fallow/recording_commands.h"
#include "tools/fallow/recording_files.h"

namespace fallow::tool {
namespace {

constexpr const char* kExamples = R"(
The recording is given to the viewer in your browser by a server on this machine; nothing is
uploaded. The server ends when the viewer has it. FALLOW_VIEWER names a viewer of your own.

Examples:
  fallow view run.fallow
  fallow view run.fallow --no-browser        prints the address and waits)";

struct Arguments {
  std::string file;
  std::string viewer = "https://profiler.firefox.com";
  std::uint16_t port = 0;
  bool no_browser = false;
  bool keep = false;
};

bool open_browser(const std::string& address) {
  std::string program = "xdg-open";
  std::string argument = address;
  char* const words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, program.c_str(), nullptr, nullptr, words, environ) != 0) return false;
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run_view(Arguments arguments) {
  const profile::Profile profile = load_with_progress(arguments.file);
  profile::StringSink packed;
  export_profile(profile, profile::ExportFormat::kFirefox, {}, packed);
  OneFileServer server(packed.text(), "profile.json.gz", arguments.port);
  while (arguments.viewer.ends_with('/')) arguments.viewer.pop_back();
  const std::string address =
      fmt::format("{}/from-url/{}/", arguments.viewer, percent_encoded(server.address()));
  const bool opened = !arguments.no_browser && open_browser(address);
  fmt::print("{}\n", address);
  std::fflush(stdout);
  fmt::print(stderr, "{}; serving until {} (Ctrl-C ends it)\n",
             opened ? "opened in your browser" : "open this address in a browser",
             arguments.keep ? "stopped" : "the viewer has the profile");
  server.serve(arguments.keep);
  return exit_code_of(profile.recording);
}

}  // namespace

void add_view_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const view = app.add_subcommand("view", "Opens a recording in the Firefox Profiler");
  view->add_option("file", arguments->file, "Recording")->required();
  view->add_option("--port", arguments->port, "Port to listen on; any free one unless given");
  view->add_option("--viewer", arguments->viewer, "Address of the viewer")
      ->envname("FALLOW_VIEWER");
  view->add_flag("--no-browser", arguments->no_browser, "Only print the address");
  view->add_flag("--keep", arguments->keep,
                 "Serve until stopped, so that the page can be reloaded");
  view->footer(kExamples);
  view->callback(
      [arguments, &exit_code] { exit_code = guarded([&] { return run_view(*arguments); }); });
}

}  // namespace fallow::tool
