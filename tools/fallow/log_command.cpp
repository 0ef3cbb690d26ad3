#include "tools/fallow/log_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/fallow/exit_codes.h"
#include "tools/fallow/log_summary.h"

namespace fallow::tool {
namespace {

constexpr const char* kExamples = R"(
Examples:
  FALLOW_LOG=gc:gc.log fallow demo && fallow log gc.log
  fallow log gc.log --histogram
  FALLOW_LOG=gc:- ./program 2>&1 >/dev/null | fallow log - --json)";

struct Arguments {
  std::string file;
  double ticks_per_second = 0;
  bool histogram = false;
  bool json = false;
};

LogSummary summary_of(const Arguments& arguments) {
  std::optional<double> ticks;
  if (arguments.ticks_per_second > 0) ticks = arguments.ticks_per_second;
  if (arguments.file == "-") return summarize_log(std::cin, ticks);
  std::ifstream file(arguments.file);
  if (!file) {
    throw std::runtime_error(
        fmt::format("cannot open '{}': {}", arguments.file, std::strerror(errno)));
  }
  try {
    return summarize_log(file, ticks);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", arguments.file, error.what()));
  }
}

nlohmann::json as_json(const Arguments& arguments, const LogSummary& summary) {
  nlohmann::json json = {{"log", arguments.file},
                         {"span_s", summary.span_s},
                         {"unfinished_sections", summary.unfinished},
                         {"damaged_lines", summary.damaged_lines},
                         {"sections", nlohmann::json::array()}};
  for (const LogSectionSummary& section : summary.sections) {
    nlohmann::json buckets = nlohmann::json::array();
    for (const LogBucket& bucket : section.histogram) {
      buckets.push_back(
          {{"from_us", bucket.from_us}, {"to_us", bucket.to_us}, {"count", bucket.count}});
    }
    json["sections"].push_back({{"name", section.name},
                                {"count", section.count},
                                {"total_s", section.total_s},
                                {"p50_us", section.p50_us},
                                {"p90_us", section.p90_us},
                                {"p99_us", section.p99_us},
                                {"p999_us", section.p999_us},
                                {"max_us", section.max_us},
                                {"histogram", std::move(buckets)}});
  }
  return json;
}

void print_histogram(const LogSectionSummary& section) {
  constexpr std::uint64_t kWidth = 50;
  std::uint64_t largest = 1;
  for (const LogBucket& bucket : section.histogram) largest = std::max(largest, bucket.count);
  fmt::print("\n{}\n", section.name);
  for (const LogBucket& bucket : section.histogram) {
    // Whatever is there is seen.
    const std::uint64_t length = (bucket.count * kWidth + largest - 1) / largest;
    fmt::print("{:>8} – {:<8} us {:>9} {}\n", bucket.from_us, bucket.to_us, bucket.count,
               std::string(length, '#'));
  }
}

void print_table(const LogSummary& summary, bool with_histograms) {
  fmt::print("{:.3f} s from the first line to the last; times include the sections within\n\n",
             summary.span_s);
  fmt::print("{:<22}{:>9}{:>12}{:>9}{:>11}{:>11}{:>11}{:>11}\n", "section", "count", "total, ms",
             "% of s", "p50, us", "p90, us", "p99, us", "max, us");
  for (const LogSectionSummary& section : summary.sections) {
    const double percent = summary.span_s > 0 ? section.total_s / summary.span_s * 100 : 0;
    fmt::print("{:<22}{:>9}{:>12.3f}{:>9.2f}{:>11.1f}{:>11.1f}{:>11.1f}{:>11.1f}\n", section.name,
               section.count, section.total_s * 1e3, percent, section.p50_us, section.p90_us,
               section.p99_us, section.max_us);
  }
  if (summary.unfinished != 0) fmt::print("\n{} sections have no end\n", summary.unfinished);
  if (summary.damaged_lines != 0) {
    fmt::print("\n{} lines end a section that had not begun\n", summary.damaged_lines);
  }
  if (!with_histograms) return;
  for (const LogSectionSummary& section : summary.sections) print_histogram(section);
}

}  // namespace

void add_log_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const log = app.add_subcommand("log", "Summarises a log of collections");
  log->add_option("file", arguments->file,
                  "Log written under FALLOW_LOG or PYPYLOG; - is standard input")
      ->required();
  log->add_option("--ticks-per-second", arguments->ticks_per_second,
                  "For logs that do not say how long a tick is")
      ->check(CLI::PositiveNumber);
  log->add_flag("--histogram", arguments->histogram, "Also draws a histogram of each section");
  log->add_flag("--json", arguments->json, "Prints JSON, with histograms, instead of a table");
  log->footer(kExamples);
  log->callback([arguments, &exit_code] {
    const LogSummary summary = summary_of(*arguments);
    if (arguments->json) {
      fmt::print("{}\n", as_json(*arguments, summary).dump(1));
    } else {
      print_table(summary, arguments->histogram);
    }
    exit_code = kExitOk;
  });
}

}  // namespace fallow::tool
