// The commands on recordings, as a shell runs them.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "platform/temporary_directory.h"
#include "tests/profile/recording_builder.h"
#include "tests/profile/simulated_program.h"
#include "tools/fallow/quantity.h"
#include "tools/fallow/site_names.h"

namespace fallow::tool {
namespace {

using nlohmann::json;

struct Outcome {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

class RecordingCommands : public ::testing::Test {
 protected:
  void SetUp() override { record("run.fallow", 1); }

  void record(const std::string& name, std::uint64_t seed, std::uint64_t objects = 20'000) {
    test::RecordingBuilder builder;
    builder.meta("command", std::string("/bin/cc\0-O2", 11));
    builder.meta("pid", "7");
    auto program = test::simulated_compiler();
    program.record({.seed = seed, .interval_bytes = 4096, .objects = objects}, builder);
    builder.write(scratch_.file(name));
  }

  std::string file(const std::string& name = "run.fallow") const { return scratch_.file(name); }

  Outcome run(const std::string& arguments) const {
    const std::string command = std::string(FALLOW_TOOL_PATH) + " " + arguments + " >" +
                                scratch_.file("out") + " 2>" + scratch_.file("err");
    const int status = std::system(command.c_str());  // NOLINT: a test's own command
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, test::read_file(scratch_.file("out")),
            test::read_file(scratch_.file("err"))};
  }

  json run_json(const std::string& arguments) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    return json::parse(outcome.output);
  }

  test::TemporaryDirectory scratch_;
};

TEST_F(RecordingCommands, TablesSayWhatComesNext) {
  for (const std::string verb : {"top", "survival", "pauses", "leaks", "info", "check"}) {
    const Outcome outcome = run(verb + " " + file());
    EXPECT_EQ(outcome.exit_code, 0) << verb << outcome.errors;
    EXPECT_NE(outcome.errors.find("next: fallow "), std::string::npos) << verb;
    EXPECT_NE(outcome.output.find("sample"), std::string::npos) << verb << outcome.output;
  }
}

TEST_F(RecordingCommands, JsonAgreesWithJson) {
  const json top = run_json("top -n 1000 --json " + file());
  double sum = 0;
  for (const json& row : top["rows"]) sum += row["allocated"]["bytes"].get<double>();
  EXPECT_EQ(sum, top["total"]["allocated"]["bytes"]);
  EXPECT_EQ(top["program"], "/bin/cc -O2");
  for (const std::string verb : {"survival", "pauses", "leaks", "info"}) {
    EXPECT_EQ(run_json(verb + " --json " + file())["total"], top["total"]) << verb;
  }
  const json by_type = run_json("top --by type --sort live --json " + file());
  EXPECT_EQ(by_type["rows"].size(), 8U);
  EXPECT_GE(by_type["rows"][0]["live"]["bytes"], by_type["rows"][1]["live"]["bytes"]);
  EXPECT_EQ(run_json("top --by thread --json " + file())["rows"].size(), 1U);
  EXPECT_EQ(run_json("check --json " + file())["sound"], true);
}

TEST_F(RecordingCommands, ADamagedFileIsReadAndTold) {
  const std::string whole = test::read_file(file());
  scratch_.write("cut.fallow", whole.substr(0, whole.size() - 100));
  for (const std::string verb : {"top", "survival", "pauses", "leaks", "info", "check"}) {
    const Outcome outcome = run(verb + " " + file("cut.fallow"));
    EXPECT_EQ(outcome.exit_code, 3) << verb;
    EXPECT_NE((outcome.output + outcome.errors).find("ends inside a chunk"), std::string::npos);
  }
  EXPECT_EQ(run("repair " + file("cut.fallow")).exit_code, 0);
  EXPECT_EQ(run("check " + file("cut.fallow.repaired")).exit_code, 0);
  EXPECT_EQ(run("repair " + file("cut.fallow")).exit_code, 1) << "it exists";
  EXPECT_EQ(run("repair -f " + file("cut.fallow")).exit_code, 0);
  EXPECT_EQ(run("report " + file("cut.fallow")).exit_code, 3);
  EXPECT_TRUE(std::filesystem::exists(file("cut.fallow.html")));
}

TEST_F(RecordingCommands, OtherFilesAreRefused) {
  scratch_.write("text", "no recording at all, but longer than the head of a chunk is");
  scratch_.write("empty", "");
  EXPECT_EQ(run("top " + file("text")).exit_code, 3);
  EXPECT_EQ(run("top " + file("empty")).exit_code, 3);
  EXPECT_EQ(run("top /no/such/file").exit_code, 1);
  EXPECT_EQ(run("top " + scratch_.path()).exit_code, 1);
  EXPECT_EQ(run("top").exit_code, 1);
  EXPECT_EQ(run("top --dance " + file()).exit_code, 1);
  EXPECT_EQ(run("top --help").exit_code, 0);
}

TEST_F(RecordingCommands, ExportsByNameAndOverwritesNothing) {
  for (const std::string ending :
       {".json.gz", ".pb.gz", ".speedscope.json", ".folded", ".csv", ".html"}) {
    const std::string target = file("x" + ending);
    EXPECT_EQ(run("export " + file() + " -o " + target).exit_code, 0) << ending;
    EXPECT_GT(std::filesystem::file_size(target), 100U);
    const Outcome again = run("export " + file() + " -o " + target);
    EXPECT_EQ(again.exit_code, 1);
    EXPECT_NE(again.errors.find("exists"), std::string::npos);
    EXPECT_EQ(run("export -f " + file() + " -o " + target).exit_code, 0);
  }
  EXPECT_EQ(run("export " + file() + " -o " + file("x.txt")).exit_code, 1);
  EXPECT_EQ(run("export " + file() + " -o /no/such/folder/x.csv").exit_code, 1);
  std::filesystem::copy(file(), file("run.csv"));
  EXPECT_EQ(run("export -f " + file("run.csv") + " -o " + file("run.csv")).exit_code, 1);
  EXPECT_EQ(run("check " + file("run.csv")).exit_code, 0);
}

TEST_F(RecordingCommands, LimitsFailWhenTheyAreExceeded) {
  EXPECT_EQ(run("pauses --fail-over 0.01 " + file()).exit_code, 2);
  EXPECT_EQ(run("pauses --fail-over 1000 " + file()).exit_code, 0);
  record("long.fallow", 1, 200'000);
  EXPECT_EQ(run("leaks --fail-over 1 " + file("long.fallow")).exit_code, 2);
  EXPECT_EQ(run("leaks --fail-over 1G " + file("long.fallow")).exit_code, 0);
}

TEST_F(RecordingCommands, ComparesTwoRecordings) {
  record("other.fallow", 2);
  const json same = run_json("diff --json " + file() + " " + file());
  EXPECT_EQ(same["changes"], 0);
  EXPECT_EQ(same["total"]["change_bytes"], 0);
  const Outcome table = run("diff " + file() + " " + file("other.fallow"));
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_NE(table.output.find("places changed"), std::string::npos);
  EXPECT_EQ(run("diff --fail-on-growth " + file() + " " + file()).exit_code, 0);
}

TEST(Quantity, NumbersAsPeopleReadThem) {
  EXPECT_EQ(format_amount(0), "0 B");
  EXPECT_EQ(format_amount(999), "999 B");
  EXPECT_EQ(format_amount(1000), "0.98 KiB");
  EXPECT_EQ(format_amount(1024), "1.00 KiB");
  EXPECT_EQ(format_amount(12.4 * 1048576), "12.4 MiB");
  EXPECT_EQ(format_amount(999.6 * 1048576), "0.98 GiB");
  EXPECT_EQ(format_amount(-3.0 * 1024), "-3.00 KiB");
  EXPECT_EQ(format_part(0, 100), "0 %");
  EXPECT_EQ(format_part(0.1, 100), "<1 %");
  EXPECT_EQ(format_part(1, 0), "–");
  profile::Tally tally;
  EXPECT_EQ(format_estimate(tally), "0 B");
  tally.add(16, 1024, 1032, 64);
  EXPECT_EQ(format_estimate(tally), "1.01 KiB ±278 % (k=1, few)");
  for (int i = 0; i < 479; ++i) tally.add(16, 1024, 1032, 64);
  EXPECT_EQ(format_estimate(tally), "484 KiB ±10 % (k=480)");
}

TEST(SiteNames, ShortNamesKeepWhatMatters) {
  EXPECT_EQ(short_name("main"), "main");
  EXPECT_EQ(short_name("Tree<int>::grow(Node*, long) const"), "Tree::grow");
  EXPECT_EQ(short_name("(anonymous namespace)::run(int)"), "(anonymous namespace)::run");
  EXPECT_EQ(short_name("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(short_name("A::operator()(int) const"), "A::operator()");
  EXPECT_EQ(short_name("void std::sort<int*>(int*, int*)"), "std::sort");
  EXPECT_EQ(short_name("f(int)::{lambda(int)#1}::operator()(int) const"),
            "f::{lambda#1}::operator()");
  EXPECT_EQ(short_name("(deep stack cut)"), "(deep stack cut)");
  EXPECT_EQ(short_name("libx.so+0x12"), "libx.so+0x12");
  EXPECT_EQ(short_name("a\nb"), "a b");
  EXPECT_EQ(short_name("<<<"), "");
  EXPECT_EQ(shell_word("a b's"), "'a b'\\''s'");
}

}  // namespace
}  // namespace fallow::tool
