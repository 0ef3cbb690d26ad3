#include "tools/fallow/device_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>

#include "telemetry/size_parser.h"
#include "tools/fallow/device_replay.h"
#include "tools/fallow/exit_codes.h"

namespace fallow::tool {
namespace {

constexpr const char* kExamples = R"(
FILE is in the form that RMM logs and fallow's CsvTrace writes: Thread,Time,Action,Pointer,Size,Stream.
The device is one in software whose memory is only declared. Streams are not played: a free takes
effect where it stands in the file.

Examples:
  fallow device replay rmm_log.csv
  fallow device replay rmm_log.csv --capacity 8G --fit first
  fallow device replay - --json < trace.csv

Exit codes: 0 when everything fitted, 1 when an allocation failed that had not failed in the trace,
2 for wrong usage.)";

struct Arguments {
  std::string file;
  std::string capacity;
  std::string fit = "segregated";
  bool json = false;
};

const std::map<std::string, device::FitStrategy>& strategies() {
  static const std::map<std::string, device::FitStrategy> all = {
      {"segregated", device::FitStrategy::kSegregated},
      {"first", device::FitStrategy::kFirst},
      {"best", device::FitStrategy::kBest}};
  return all;
}

DeviceTrace trace_of(const std::string& name) {
  try {
    if (name == "-") return read_device_trace(std::cin);
    std::ifstream file(name);
    if (!file) throw std::runtime_error(fmt::format("cannot open: {}", std::strerror(errno)));
    return read_device_trace(file);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", name, error.what()));
  }
}

int run_replay(const Arguments& arguments) {
  ReplayOptions options;
  options.fit = strategies().at(arguments.fit);
  if (!arguments.capacity.empty()) {
    options.capacity_bytes = telemetry::parse_size(arguments.capacity).bytes.value_or(0);
  }
  const DeviceTrace trace = trace_of(arguments.file);
  if (trace.skipped_lines != 0) {
    fmt::print(stderr, "fallow: {} lines are no events\n", trace.skipped_lines);
  }
  const ReplayResult result = replay_device_trace(trace, options);
  fmt::print("{}", arguments.json ? replay_as_json(result) : replay_as_text(result));
  return result.failures == 0 ? kExitOk : kExitFailed;
}

std::string size_problem(const std::string& text) { return telemetry::parse_size(text).error; }

}  // namespace

void add_device_command(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* const command = app.add_subcommand("device", "Works with traces of device memory");
  command->require_subcommand(1);
  CLI::App* const replay =
      command->add_subcommand("replay", "Plays a trace of allocations on a device in software");
  replay->add_option("file", arguments->file, "Trace; - is standard input")->required();
  replay->add_option("--capacity", arguments->capacity, "Bytes of the device (twice the peak)")
      ->option_text("SIZE")
      ->check(size_problem);
  replay->add_option("--fit", arguments->fit, "segregated, first or best")
      ->check(CLI::IsMember({"segregated", "first", "best"}))
      ->capture_default_str();
  replay->add_flag("--json", arguments->json, "Prints JSON instead of a table");
  replay->footer(kExamples);
  replay->callback([arguments, &exit_code] { exit_code = run_replay(*arguments); });
}

}  // namespace fallow::tool
