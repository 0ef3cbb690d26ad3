// Runs the real executable.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "fallow/version.h"
#include "platform/temporary_directory.h"

namespace fallow::tool {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

std::string quoted(const std::string& text) { return "'" + text + "'"; }

class Cli : public ::testing::Test {
 protected:
  // `arguments` as a shell reads them; `environment` such as "NAME=value".
  Outcome run(const std::string& arguments, const std::string& environment = "") const {
    const std::string command = environment + " " + quoted(FALLOW_TOOL_PATH) + " " + arguments +
                                " >" + quoted(scratch_.file("out")) + " 2>" +
                                quoted(scratch_.file("err"));
    const int status = std::system(command.c_str());  // NOLINT: a test's own command
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, test::read_file(scratch_.file("out")),
            test::read_file(scratch_.file("err"))};
  }

  static void expect_usage_error(const Outcome& outcome, const std::string& text) {
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.output, "");
    EXPECT_NE(outcome.errors.find(text), std::string::npos) << outcome.errors;
  }

  test::TemporaryDirectory scratch_;
  test::TemporaryDirectory texts_;
};

TEST_F(Cli, PrintsItsVersion) {
  const std::string expected = std::string("fallow ") + kVersion + "\n";
  for (const char* const arguments : {"version", "--version"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.output, expected);
  }
}

TEST_F(Cli, HelpsAndShowsExamples) {
  for (const char* const arguments : {"--help", "demo --help", "log --help"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.output.find("Usage: fallow"), std::string::npos);
    EXPECT_NE(outcome.output.find("Examples:"), std::string::npos);
  }
}

TEST_F(Cli, PrintsTheOptions) {
  const Outcome outcome = run("options");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("| `nursery_bytes` | `FALLOW_NURSERY`"), std::string::npos);
}

// The scenarios are the Python package's: the tool finds it and hands over.
TEST_F(Cli, HandsThePressureDemoOver) {
  const auto write_python = [this](const std::string& body) {
    scratch_.write("python", "#!/bin/sh\n" + body);
    const std::string path = scratch_.file("python");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return "pressure demo --python " + quoted(path);
  };
  const Outcome missing = run("pressure demo --python /no/such/python");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.errors.find("cannot run '/no/such/python'"), std::string::npos);
  const Outcome bare = run(write_python("exit 1\n"));
  EXPECT_EQ(bare.exit_code, 1);
  EXPECT_NE(bare.errors.find("pip install ."), std::string::npos);
  const std::string whole = write_python("[ $1 = -c ] && exit 0\necho \"$@\"\nexit 1\n");
  const Outcome played = run(whole + " --json --chart a.svg");
  EXPECT_EQ(played.exit_code, 1) << "what the demonstration ended with";
  EXPECT_EQ(played.output, "-m fallow.pressure demo --json --chart a.svg\n");
}

TEST_F(Cli, RefusesWrongUsage) {
  expect_usage_error(run(""), "Usage: fallow");
  expect_usage_error(run("dance"), "no command 'dance'");
  expect_usage_error(run("--dance"), "");
  expect_usage_error(run("demo --dance"), "--dance");
  expect_usage_error(run("demo one two"), "two");
  expect_usage_error(run("demo ''"), "empty");
  expect_usage_error(run("demo --repeat 0"), "--repeat");
  expect_usage_error(run("demo --repeat -1"), "--repeat");
  expect_usage_error(run("demo --repeat many"), "--repeat");
  expect_usage_error(run("demo --max-bytes 4Q"), "unknown unit");
  expect_usage_error(run("demo --max-bytes"), "--max-bytes");
}

TEST_F(Cli, RefusesADirectoryThatIsNone) {
  texts_.write("file", "words");
  expect_usage_error(run("demo /no/such/directory"), "'/no/such/directory' does not exist");
  expect_usage_error(run("demo " + quoted(texts_.file("file"))), "is not a directory");
}

TEST_F(Cli, RefusesAnOptionOutOfRange) {
  texts_.write("file", "words");
  expect_usage_error(run("demo " + quoted(texts_.path()), "FALLOW_NURSERY=1"), "FALLOW_NURSERY");
}

TEST_F(Cli, IndexesADirectory) {
  texts_.write("a/one", "some words, and more words");
  texts_.write("two", "more");
  const Outcome outcome = run("demo --check " + quoted(texts_.path()));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("2 files"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("6, 4 distinct"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("Both agree"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("The heap is in order"), std::string::npos) << outcome.output;
}

TEST_F(Cli, AnEmptyDirectoryIsNoFailure) {
  Outcome outcome = run("demo " + quoted(texts_.path()));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("nothing to index"), std::string::npos) << outcome.output;
  outcome = run("demo --json --check " + quoted(texts_.path()));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(outcome.output)["corpus"]["files"], 0);
}

TEST_F(Cli, PrintsJsonAndNothingElse) {
  texts_.write("one", "some words, and more words");
  texts_.write("caf\xE9", "words");
  texts_.write("binary", std::string("\0\1", 2));
  const Outcome outcome = run("demo --json --repeat 2 --check " + quoted(texts_.path()));
  EXPECT_EQ(outcome.exit_code, 0);
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["rounds"], 2);
  EXPECT_EQ(json["corpus"]["binary_files"], 1);
  EXPECT_EQ(json["corpus"]["distinct_words"], 4);
  EXPECT_EQ(json["comparison"]["identical"], true);
  EXPECT_EQ(json["verification"]["complaints"].size(), 0U);
}

TEST_F(Cli, ShowsNoProgressInAFile) {
  texts_.write("one", "some words");
  const Outcome outcome = run("demo " + quoted(texts_.path()), "TERM=xterm");
  EXPECT_EQ(outcome.errors.find('\r'), std::string::npos);
  EXPECT_EQ(outcome.output.find('\r'), std::string::npos);
}

TEST_F(Cli, ReadsNoMoreThanTheLimit) {
  texts_.write("one", "some words");
  texts_.write("two", std::string(5000, 'a'));
  const Outcome outcome = run("demo --json --max-bytes 4K " + quoted(texts_.path()));
  EXPECT_EQ(outcome.exit_code, 0);
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["corpus"]["files"], 1);
  EXPECT_EQ(json["corpus"]["files_beyond_limit"], 1);
}

TEST_F(Cli, FindsTextsByItself) {
  const Outcome outcome = run("demo --json --max-bytes 256K");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_GT(nlohmann::json::parse(outcome.output)["corpus"]["files"], 0);
}

TEST_F(Cli, OutputThatCannotBeWrittenIsAFailure) {
  const std::string command = quoted(FALLOW_TOOL_PATH) + " options >/dev/full 2>/dev/null";
  const int status = std::system(command.c_str());  // NOLINT: a test's own command
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST_F(Cli, SummarisesTheLogThatAHeapHasWritten) {
  const std::string log = scratch_.file("gc.log");
  for (int i = 0; i < 50; ++i) texts_.write("file" + std::to_string(i), "words to index");
  const std::string environment = "FALLOW_NURSERY=4K FALLOW_LOG=gc:" + quoted(log);
  ASSERT_EQ(run("demo " + quoted(texts_.path()), environment).exit_code, 0);
  const Outcome table = run("log --histogram " + quoted(log));
  EXPECT_EQ(table.exit_code, 0) << table.errors;
  for (const char* const part : {"section", "gc-minor ", "p99, us", "gc-set-nursery-size"}) {
    EXPECT_NE(table.output.find(part), std::string::npos) << part << table.output;
  }
  const Outcome json = run("log - --json <" + quoted(log));
  EXPECT_EQ(json.exit_code, 0) << json.errors;
  const auto parsed = nlohmann::json::parse(json.output);
  EXPECT_GT(parsed["span_s"], 0.0);
  EXPECT_EQ(parsed["damaged_lines"], 0);
  EXPECT_GE(parsed["sections"].size(), 3U);
}

TEST_F(Cli, SaysWhyALogCannotBeSummarised) {
  const Outcome missing = run("log /no/such/file");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.errors.find("/no/such/file': No such file"), std::string::npos);
  const Outcome empty = run("log /dev/null");
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_NE(empty.errors.find("no section"), std::string::npos) << empty.errors;
  const Outcome folder = run("log " + quoted(texts_.path()));
  EXPECT_EQ(folder.exit_code, 1);
  expect_usage_error(run("log"), "file");
  expect_usage_error(run("log x --ticks-per-second 0"), "ticks-per-second");
}

TEST_F(Cli, DrawsALog) {
  const std::string log = scratch_.file("gc.log");
  for (int i = 0; i < 50; ++i) texts_.write("file" + std::to_string(i), "words to index");
  const std::string environment = "FALLOW_NURSERY=4K FALLOW_LOG=gc:" + quoted(log);
  ASSERT_EQ(run("demo " + quoted(texts_.path()), environment).exit_code, 0);
  const std::string svg = scratch_.file("gc.svg");
  const std::string html = scratch_.file("gc.html");
  scratch_.write("gc.svg", std::string(1 << 20, 'x'));
  const Outcome drawn =
      run("log " + quoted(log) + " --json --svg " + quoted(svg) + " --html " + quoted(html));
  EXPECT_EQ(drawn.exit_code, 0) << drawn.errors;
  EXPECT_GT(nlohmann::json::parse(drawn.output)["pauses"]["minor"], 0);
  // A real parser, too.
  const std::string parse =
      "python3 -c 'import sys, xml.etree.ElementTree as tree; "
      "[tree.parse(file) for file in sys.argv[1:]]' ";
  EXPECT_EQ(std::system((parse + quoted(svg) + " " + quoted(html)).c_str()), 0);  // NOLINT
  EXPECT_NE(test::read_file(svg).find("gc.log: "), std::string::npos);
}

TEST_F(Cli, RefusesPicturesThatCannotBeWrittenBeforeReadingTheLog) {
  expect_usage_error(run("log /no/such/log --svg /no/such/folder/x"),
                     "cannot write '/no/such/folder/x': No such file");
  expect_usage_error(run("log /no/such/log --html " + quoted(texts_.path())), "cannot write");
  scratch_.write("gc.log", "[1] {a\n[2] a}\n");
  const std::string log = quoted(scratch_.file("gc.log"));
  expect_usage_error(run("log " + log + " --svg " + log), "would overwrite");
  const std::string picture = quoted(scratch_.file("picture"));
  expect_usage_error(run("log " + log + " --svg " + picture + " --html " + picture),
                     "would overwrite");
  EXPECT_EQ(test::read_file(scratch_.file("gc.log")), "[1] {a\n[2] a}\n");
}

TEST_F(Cli, PicturesOfLogsThatCannotBeReadLeaveNothing) {
  const std::string picture = scratch_.file("picture");
  EXPECT_EQ(run("log /dev/null --svg " + quoted(picture)).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(picture));
  scratch_.write("picture", "older");
  EXPECT_EQ(run("log /dev/null --svg " + quoted(picture)).exit_code, 1);
  EXPECT_EQ(test::read_file(picture), "older");
}

TEST_F(Cli, AFullDiskDoesNotTakeTheFigures) {
  scratch_.write("gc.log", "[1] {gc-minor\n[2] gc-minor}\n");
  const Outcome outcome =
      run("log " + quoted(scratch_.file("gc.log")) + " --ticks-per-second 1 --svg /dev/full");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("1 pause: 1 minor"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.errors.find("cannot write '/dev/full': No space left"), std::string::npos)
      << outcome.errors;
}

TEST_F(Cli, ReplaysATraceOfADevice) {
  scratch_.write("trace.csv",
                 "Thread,Time,Action,Pointer,Size,Stream\n"
                 "1,10:00:00:1,allocate,0x1,3000000,0x0\n"
                 "1,10:00:00:2,free,0x1,3000000,0x0\n");
  const std::string trace = quoted(scratch_.file("trace.csv"));
  const Outcome table = run("device replay " + trace);
  EXPECT_EQ(table.exit_code, 0) << table.errors;
  EXPECT_NE(table.output.find("allocations     1, 0 failed here"), std::string::npos)
      << table.output;
  const Outcome json = run("device replay - --json --fit best --capacity 1M < " + trace);
  EXPECT_EQ(json.exit_code, 1) << "it does not fit";
  EXPECT_EQ(nlohmann::json::parse(json.output)["failures"], 1);
  EXPECT_EQ(run("device replay /no/such/file").exit_code, 1);
  EXPECT_EQ(run("device replay /dev/null").exit_code, 1);
  expect_usage_error(run("device replay " + trace + " --capacity much"), "--capacity");
  expect_usage_error(run("device replay " + trace + " --fit worst"), "--fit");
  expect_usage_error(run("device"), "");
}

}  // namespace
}  // namespace fallow::tool
