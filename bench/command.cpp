#include "bench/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "bench/benchmark.h"
#include "bench/callgrind.h"
#include "bench/machine.h"
#include "bench/picture_files.h"
#include "bench/report.h"
#include "bench/runner.h"
#include "bench/terminal_line.h"

namespace fallow::bench {

namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr std::uint64_t kLargestN = 1'000'000'000'000;

struct Request {
  std::string name;
  std::string work;  ///< a row to run once in this process, for callgrind
  bool list = false;
  Options options;
};

int complain(const std::string& problem, int exit_code) {
  fmt::print(stderr, "fallow: {}\n", problem);
  return exit_code;
}

std::string described_benchmarks() {
  std::string text;
  for (const Benchmark& benchmark : benchmarks()) {
    text += fmt::format("  {:<10}{}\n  {:<10}--n: {}\n", benchmark.name, benchmark.help, "",
                        benchmark.unit_of_n);
  }
  return text;
}

std::string known_names() {
  std::string names;
  for (const Benchmark& benchmark : benchmarks()) {
    names += names.empty() ? benchmark.name : std::string(", ") + benchmark.name;
  }
  return names;
}

const Benchmark* find_benchmark(const std::string& name) {
  const auto& all = benchmarks();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Benchmark& benchmark) { return name == benchmark.name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_countable(const Row& row) { return row.work != nullptr; }

int run_work(const std::vector<Row>& rows, const Request& request) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& each) { return each.name == request.work; });
  if (row == rows.end() || !is_countable(*row)) {
    throw BadOption(
        fmt::format("'{}' has no row '{}' that can be counted", request.name, request.work));
  }
  row->work(request.options.n);
  return 0;
}

void show_row(TerminalLine& line, std::size_t done, std::size_t all, const std::string& row) {
  line.write(fmt::format("{}/{} {}", done + 1, all, row));
}

void count_instructions(const Benchmark& benchmark, const std::vector<Row>& rows,
                        std::vector<Measured>& measured, TerminalLine& progress) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_countable(rows[i])) continue;
    show_row(progress, i, rows.size(), rows[i].name + " (callgrind)");
    const double count = instructions_per_object(benchmark.name, rows[i].name);
    measured[i].figures.push_back({"instructions_per_object", count, count, count});
  }
}

/// What would fail at the end fails before anything is measured.
void check(const Benchmark& benchmark, const std::vector<Row>& rows, const Options& options) {
  if (!options.callgrind) return;
  if (std::none_of(rows.begin(), rows.end(), is_countable)) {
    throw BadOption(
        fmt::format("'{}' has no rows whose instructions can be counted", benchmark.name));
  }
  require_valgrind();
}

void print_table(const std::vector<Measured>& measured, int runs) {
  for (const auto& [name, value] : describe_machine()) fmt::print("{}: {}\n", name, value);
  fmt::print("{}\n\n{}",
             runs == 1 ? "one run" : fmt::format("medians of {} runs (smallest–largest)", runs),
             as_table(measured));
}

std::vector<Row> chosen_rows(const Benchmark& benchmark, const Options& options) {
  std::vector<Row> rows = benchmark.rows(options);
  std::erase_if(rows, [&options](const Row& row) {
    return row.name.find(options.rows) == std::string::npos;
  });
  if (rows.empty()) {
    throw BadOption(
        fmt::format("'{}' has no row whose name contains '{}'", benchmark.name, options.rows));
  }
  return rows;
}

int run_benchmark(const Benchmark& benchmark, const Request& request) {
  const Options& options = request.options;
  const std::vector<Row> rows = chosen_rows(benchmark, options);
  if (!request.work.empty()) return run_work(rows, request);
  check(benchmark, rows, options);
  std::optional<PictureFiles> pictures;
  // A picture of some rows would look like one of all.
  if (options.rows.empty()) pictures.emplace(benchmark.pictures, options.output);
  TerminalLine progress;
  std::vector<Measured> measured =
      measure(rows, options.runs, [&](std::size_t done, std::size_t all, const std::string& row) {
        show_row(progress, done, all, row);
      });
  if (options.callgrind) count_instructions(benchmark, rows, measured, progress);
  progress.clear();
  if (options.json) {
    fmt::print("{}", as_json(benchmark.name, measured));
  } else {
    print_table(measured, options.runs);
  }
  if (pictures) {
    for (const std::string& file : pictures->write(measured)) {
      fmt::print(stderr, "picture: {}\n", file);
    }
  }
  return 0;
}

int run(const Request& request) {
  if (request.list) {
    fmt::print("{}", described_benchmarks());
    return 0;
  }
  if (request.name.empty()) {
    return complain("which benchmark?\n" + described_benchmarks(), kUsage);
  }
  const Benchmark* const benchmark = find_benchmark(request.name);
  if (benchmark == nullptr) {
    return complain(
        fmt::format("there is no benchmark '{}'; there are {}", request.name, known_names()),
        kUsage);
  }
  try {
    return run_benchmark(*benchmark, request);
  } catch (const BadOption& error) {
    return complain(error.what(), kUsage);
  } catch (const std::runtime_error& error) {
    return complain(error.what(), kFailed);
  }
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  const auto request = std::make_shared<Request>();
  CLI::App* const bench = app.add_subcommand("bench", "Measures speed and memory");
  bench->add_option("name", request->name, "Benchmark; --list shows them");
  bench->add_flag("--list", request->list, "Lists the benchmarks");
  bench->add_option("--n", request->options.n, "Size of the work; 0 is the default")
      ->check(CLI::Range(std::uint64_t{0}, kLargestN))
      ->capture_default_str();
  bench->add_option("--runs", request->options.runs, "Runs of every row, alternating")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  bench->add_option("--rows", request->options.rows, "Only rows whose names contain this");
  bench->add_flag("--json", request->options.json, "Prints JSON instead of a table");
  bench->add_flag("--callgrind", request->options.callgrind,
                  "Also counts instructions, with valgrind");
  bench->add_option("--output", request->options.output, "Folder for pictures")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  bench->add_option("--work", request->work)->group("");
  bench->footer(
      "Every row runs in a process of its own; the rows take turns. JSON has the shape\n"
      "  {\"bench\": …, \"machine\": {…}, \"rows\": [{\"name\": …, METRIC: median,\n"
      "   METRIC_min: …, METRIC_max: …}]}\n"
      "\n"
      "Examples:\n"
      "  fallow bench alloc --runs 7 --json\n"
      "  fallow bench alloc --n 100000000 --callgrind\n"
      "  fallow bench nursery --output docs\n"
      "  fallow bench server --runs 1");
  bench->callback([request, &exit_code] { exit_code = run(*request); });
}

}  // namespace fallow::bench
