// FALLOW_LOG as a program sees it: each test starts this program again with the variable set.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "../platform/child_process.h"
#include "../platform/temporary_directory.h"
#include "telemetry/log.h"

namespace fallow::telemetry {
namespace {

constexpr const char* kExpectation = "FALLOW_LOG_TEST_EXPECTATION";

// Runs a disabled test of this file in a new process; true when it passes.
bool run_again(const std::string& test, const std::string& log, const char* expectation) {
  const std::string filter = "--gtest_filter=LogEnvironmentInside.DISABLED_" + test;
  return fallow::test::run_in_child([&] {
           setenv("FALLOW_LOG", log.c_str(), 1);
           setenv(kExpectation, expectation, 1);
           const int null = open("/dev/null", O_WRONLY);
           dup2(null, STDOUT_FILENO);
           execl("/proc/self/exe", "test", filter.c_str(), "--gtest_also_run_disabled_tests",
                 static_cast<char*>(nullptr));
           return 127;
         }) == 0;
}

TEST(LogEnvironment, IsReadAtTheFirstSectionAndRemoved) {
  const test::TemporaryDirectory directory;
  EXPECT_TRUE(run_again("WriteOneSection", "gc:" + directory.file("log"), "removed"));
  const std::string text = test::read_file(directory.file("log"));
  EXPECT_EQ(text.find("{gc-clock\n"), text.find('{'));
  EXPECT_NE(text.find("{gc-test\ninside: 1\n["), std::string::npos);
}

TEST(LogEnvironment, StaysWithAProcessIdInTheName) {
  const test::TemporaryDirectory directory;
  EXPECT_TRUE(run_again("WriteOneSection", "gc:" + directory.file("log.%d"), "kept"));
}

TEST(LogEnvironment, EmptyMeansOff) { EXPECT_TRUE(run_again("LogIsOff", "", "removed")); }

TEST(LogEnvironment, UnwritableFileIsReportedAndHarmless) {
  EXPECT_TRUE(run_again("FileCannotBeOpened", ":/nonexistent/log", "removed"));
}

TEST(LogEnvironment, UnconfiguredForkChildReadsItItself) {
  const test::TemporaryDirectory directory;
  EXPECT_TRUE(run_again("ForkBeforeTheFirstSection", ":" + directory.file("log"), "kept"));
  EXPECT_NE(test::read_file(directory.file("log")).find("{gc-test\n"), std::string::npos);
}

void check_variable() {
  const bool kept = std::string(getenv(kExpectation)) == "kept";
  EXPECT_EQ(getenv("FALLOW_LOG") != nullptr, kept);
}

void write_section() {
  LogSection section("gc-test");
  section.line("inside: %d", 1);
}

TEST(LogEnvironmentInside, DISABLED_WriteOneSection) {
  EXPECT_TRUE(log_enabled("gc-test"));
  EXPECT_FALSE(log_enabled("jit"));
  write_section();
  EXPECT_EQ(log_error(), "");
  EXPECT_TRUE(log_configure_from_environment());
  check_variable();
}

TEST(LogEnvironmentInside, DISABLED_LogIsOff) {
  EXPECT_TRUE(log_configure_from_environment());
  EXPECT_FALSE(log_enabled("gc-test"));
  write_section();
  check_variable();
}

TEST(LogEnvironmentInside, DISABLED_FileCannotBeOpened) {
  write_section();
  EXPECT_FALSE(log_configure_from_environment());
  EXPECT_NE(log_error(), "");
  check_variable();
}

TEST(LogEnvironmentInside, DISABLED_ForkBeforeTheFirstSection) {
  EXPECT_EQ(test::run_in_child([] {
              write_section();
              return log_error().empty() && getenv("FALLOW_LOG") == nullptr ? 0 : 1;
            }),
            0);
  check_variable();
}

}  // namespace
}  // namespace fallow::telemetry
