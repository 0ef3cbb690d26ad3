// fallow demo [DIR]
#pragma once

#include <cstdint>
#include <string>

#include "tools/fallow/measurement.h"

namespace CLI {
class App;
}  // namespace CLI

namespace fallow::tool {

struct DemoArguments {
  std::string directory;  // empty: default_directories()
  std::uint64_t max_bytes = std::uint64_t{256} << 20;
  std::uint32_t rounds = 1;
  bool json = false;
  bool check = false;
};

// Writes the report to standard output and returns an exit code. Throws what the heap throws.
int run_demo(const DemoArguments& arguments);

// The exit code that a measurement deserves.
int exit_code_of(const Measurement& measurement);

// Adds the subcommand, which sets `exit_code` when it runs.
void add_demo_command(CLI::App& app, int& exit_code);

}  // namespace fallow::tool
