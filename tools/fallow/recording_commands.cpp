#include "tools/fallow/recording_commands.h"

namespace fallow::tool {

void add_recording_commands(CLI::App& app, int& exit_code) {
  add_top_command(app, exit_code);
  add_survival_command(app, exit_code);
  add_pauses_command(app, exit_code);
  add_leaks_command(app, exit_code);
  add_diff_command(app, exit_code);
  add_export_commands(app, exit_code);
  add_view_command(app, exit_code);
  add_recording_file_commands(app, exit_code);
}

}  // namespace fallow::tool
