#pragma once

#include <CLI/CLI.hpp>

namespace fallow::bench {

/// Adds `bench NAME …` to a command line. Exit codes: 0 measured, 1 a row failed or something that
/// is needed is missing, 2 wrong usage.
void add_bench_command(CLI::App& app, int& exit_code);

}  // namespace fallow::bench
