#include "bench/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/benchmark.h"
#include "bench/callgrind.h"
#include "bench/machine.h"
#include "bench/report.h"
#include "bench/runner.h"

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

void list_benchmarks() {
  for (const Benchmark& benchmark : benchmarks()) {
    fmt::print("{:<10}{}; --n: {}\n", benchmark.name, benchmark.help, benchmark.unit_of_n);
  }
}

void show_progress(std::size_t done, std::size_t all, const std::string& row) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{}/{} {}", done + 1, all, row);
  std::fflush(stderr);
}

void clear_progress() {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
}

int run_work(const Benchmark& benchmark, const Request& request) {
  const std::vector<Row> rows = benchmark.rows(request.options);
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& each) { return each.name == request.work; });
  if (row == rows.end() || row->work == nullptr) {
    fmt::print(stderr, "fallow: '{}' has no row '{}' that can be counted\n", benchmark.name,
               request.work);
    return kUsage;
  }
  row->work(request.options.n);
  return 0;
}

void count_instructions(const Benchmark& benchmark, const std::vector<Row>& rows,
                        std::vector<Measured>& measured) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].work == nullptr) continue;
    show_progress(i, rows.size(), rows[i].name + " (callgrind)");
    const double count = instructions_per_object(benchmark.name, rows[i].name);
    measured[i].figures.push_back({"instructions_per_object", count, count, count});
  }
}

int run(const Request& request) {
  if (request.list) {
    list_benchmarks();
    return 0;
  }
  const auto& all = benchmarks();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Benchmark& benchmark) {
    return request.name == benchmark.name;
  });
  if (found == all.end()) {
    fmt::print(stderr, "fallow: there is no benchmark '{}'; these exist:\n", request.name);
    for (const Benchmark& benchmark : all) fmt::print(stderr, "  {}\n", benchmark.name);
    return kUsage;
  }
  if (!request.work.empty()) return run_work(*found, request);
  try {
    const std::vector<Row> rows = found->rows(request.options);
    std::vector<Measured> measured = measure(rows, request.options.runs, show_progress);
    if (request.options.callgrind) count_instructions(*found, rows, measured);
    clear_progress();
    if (request.options.json) {
      fmt::print("{}", as_json(found->name, measured));
    } else {
      for (const auto& [name, value] : describe_machine()) fmt::print("{}: {}\n", name, value);
      fmt::print("medians of {} runs (smallest–largest)\n\n{}", request.options.runs,
                 as_table(measured));
    }
    if (found->pictures != nullptr) {
      for (const std::string& file : found->pictures(measured, request.options)) {
        fmt::print(stderr, "picture: {}\n", file);
      }
    }
  } catch (const std::runtime_error& error) {
    clear_progress();
    fmt::print(stderr, "fallow: {}\n", error.what());
    return kFailed;
  }
  return 0;
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
  bench->add_flag("--json", request->options.json, "Prints JSON instead of a table");
  bench->add_flag("--callgrind", request->options.callgrind,
                  "Also counts instructions, with valgrind");
  bench->add_option("--output", request->options.output, "Folder for pictures")
      ->capture_default_str();
  bench->add_option("--work", request->work)->group("");
  bench->footer("Example: fallow bench alloc --runs 7 --json");
  bench->callback([request, &exit_code] {
    if (request->name.empty() && !request->list) throw CLI::CallForHelp();
    exit_code = run(*request);
  });
}

}  // namespace fallow::bench
