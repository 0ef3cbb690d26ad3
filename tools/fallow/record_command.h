// fallow record [options] -- COMMAND…
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace fallow::tool {

// Adds the subcommand, which sets `exit_code` when it runs: that of the command.
void add_record_command(CLI::App& app, int& exit_code);

}  // namespace fallow::tool
