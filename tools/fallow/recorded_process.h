// Runs a program so that it records itself.
#pragma once

#include <string>
#include <vector>

namespace fallow::tool {

struct RecordedProcess {
  std::vector<std::string> command;
  std::string file;     // empty: COMMAND.PID.fallow in the current folder
  std::string options;  // what FALLOW_PROFILE says behind the file's name
};

struct ProcessEnd {
  int exit_code = 0;        // 128 + N when signal N ended it
  std::string file;         // of the recording
  std::string start_error;  // why the program could not be started, or empty
};

// Waits for the end. Ctrl-C goes to the program alone.
ProcessEnd run_recorded(const RecordedProcess& process);

}  // namespace fallow::tool
