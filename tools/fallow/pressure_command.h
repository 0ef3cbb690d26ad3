// fallow pressure demo
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace fallow::tool {

// Adds the subcommand, which sets `exit_code` when it runs, or becomes the Python that plays it.
// Throws std::system_error when no process can be started.
void add_pressure_command(CLI::App& app, int& exit_code);

}  // namespace fallow::tool
