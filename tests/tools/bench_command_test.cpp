// `bench` on the command line: what it accepts, refuses and prints.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/command.h"
#include "bench/picture_files.h"
#include "platform/temporary_directory.h"

namespace fallow::bench {
namespace {

struct Outcome {
  int exit_code = 0;
  std::string output;
  std::string errors;
};

Outcome run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  CLI::App app;
  Outcome outcome;
  add_bench_command(app, outcome.exit_code);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    outcome.exit_code = app.exit(error);
  }
  outcome.output = testing::internal::GetCapturedStdout();
  outcome.errors = testing::internal::GetCapturedStderr();
  return outcome;
}

void expect_refused(const std::vector<std::string>& arguments, const std::string& reason) {
  const Outcome outcome = run(arguments);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "");
  EXPECT_NE(outcome.errors.find(reason), std::string::npos) << outcome.errors;
}

TEST(BenchCommand, ListsEveryBenchmark) {
  const Outcome outcome = run({"--list"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const Benchmark& benchmark : benchmarks()) {
    EXPECT_NE(outcome.output.find(benchmark.help), std::string::npos) << benchmark.name;
  }
}

TEST(BenchCommand, RefusesAnUnknownNameAndTellsTheKnownOnes) {
  const Outcome outcome = run({"speed"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.output, "");
  EXPECT_NE(outcome.errors.find("no benchmark 'speed'"), std::string::npos);
  for (const Benchmark& benchmark : benchmarks()) {
    EXPECT_NE(outcome.errors.find(benchmark.name), std::string::npos) << benchmark.name;
  }
}

TEST(BenchCommand, AsksForAName) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.errors.find("which benchmark?"), std::string::npos);
}

TEST(BenchCommand, RefusesNonsense) {
  expect_refused({"roots", "--n", "-1"}, "--n");
  expect_refused({"roots", "--n", "many"}, "--n");
  expect_refused({"roots", "--n", "31"}, "depth of a tree here, at most 30");
  expect_refused({"roots", "--runs", "0"}, "--runs");
  expect_refused({"nursery", "--output", "/no/such/folder"}, "/no/such/folder");
  expect_refused({"roots", "alloc"}, "alloc");
  expect_refused({"roots", "--callgrind"}, "no rows whose instructions can be counted");
  expect_refused({"alloc", "--work", "nothing"}, "no row 'nothing'");
  expect_refused({"alloc", "--rows", "nothing"}, "no row whose name contains 'nothing'");
}

TEST(BenchCommand, RefusesPicturesThatCannotBeWrittenBeforeItMeasures) {
  const test::TemporaryDirectory folder;
  std::filesystem::create_directory(folder.file("nursery.svg"));
  expect_refused({"nursery", "--output", folder.path()}, "--output names another folder");
  std::filesystem::create_directory(folder.file("server.html"));
  expect_refused({"server", "--output", folder.path()}, "server.html");
  EXPECT_FALSE(std::filesystem::exists(folder.file("server.svg")));
}

TEST(BenchCommand, WritesPicturesIntoTheChosenFolder) {
  const test::TemporaryDirectory folder;
  const std::vector<Picture> pictures = {
      {"rows.txt", [](const std::vector<Measured>& rows) { return rows.front().name; }}};
  PictureFiles files(pictures, folder.path());
  EXPECT_EQ(files.write({{"first", {}}}), std::vector<std::string>{folder.file("rows.txt")});
  EXPECT_EQ(test::read_file(folder.file("rows.txt")), "first");
}

TEST(BenchCommand, MissesValgrindBeforeItMeasures) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/no/such/folder", 1);
  const Outcome outcome = run({"alloc", "--callgrind"});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.errors.find("apt install valgrind"), std::string::npos) << outcome.errors;
}

TEST(BenchCommand, PrintsJsonAndNothingElse) {
  const Outcome outcome = run({"tree-rss", "--n", "4", "--runs", "2", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.errors, "");
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["bench"], "tree-rss");
  ASSERT_EQ(json["rows"].size(), 1U);
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["name"], "fallow");
  EXPECT_DOUBLE_EQ(row["objects_mib"], 31 * 24 / 1024.0 / 1024.0);
  EXPECT_LE(row["rss_mib_min"], row["rss_mib"]);
  EXPECT_LE(row["rss_mib"], row["rss_mib_max"]);
}

TEST(BenchCommand, PrintsATableWithTheMachine) {
  const Outcome outcome = run({"tree-rss", "--n", "4", "--runs", "3"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* const part : {"processor: ", "medians of 3 runs", "rss_ratio", "\nfallow "}) {
    EXPECT_NE(outcome.output.find(part), std::string::npos) << part;
  }
}

TEST(BenchCommand, ReportsARowThatFails) {
  setenv("FALLOW_NURSERY", "1", 1);
  const Outcome outcome = run({"tree-rss", "--n", "4"});
  unsetenv("FALLOW_NURSERY");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.errors.find("FALLOW_NURSERY"), std::string::npos) << outcome.errors;
}

TEST(BenchCommand, RunsTheWorkOfARowAlone) {
  const Outcome outcome = run({"alloc", "--work", "live/init", "--n", "1000"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "");
}

}  // namespace
}  // namespace fallow::bench
