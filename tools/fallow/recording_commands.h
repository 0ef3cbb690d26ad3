// fallow top, survival, pauses, leaks, diff, export, report, view, info, check, repair
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace fallow::tool {

// Each adds subcommands, which set `exit_code` when they run.
void add_recording_commands(CLI::App& app, int& exit_code);

void add_top_command(CLI::App& app, int& exit_code);
void add_survival_command(CLI::App& app, int& exit_code);
void add_pauses_command(CLI::App& app, int& exit_code);
void add_leaks_command(CLI::App& app, int& exit_code);
void add_diff_command(CLI::App& app, int& exit_code);
void add_export_commands(CLI::App& app, int& exit_code);
void add_view_command(CLI::App& app, int& exit_code);
void add_recording_file_commands(CLI::App& app, int& exit_code);

}  // namespace fallow::tool
