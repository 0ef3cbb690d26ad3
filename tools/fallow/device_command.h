// fallow device replay FILE
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace fallow::tool {

// Adds the subcommand, which sets `exit_code` when it runs. Throws std::runtime_error for what
// cannot be read.
void add_device_command(CLI::App& app, int& exit_code);

}  // namespace fallow::tool
