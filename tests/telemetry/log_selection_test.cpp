#include "telemetry/log_selection.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace fallow::telemetry {
namespace {

TEST(LogSelection, EmptySelectsNothing) {
  for (const LogSelection& selection : {LogSelection(), LogSelection("")}) {
    EXPECT_TRUE(selection.nothing());
    EXPECT_FALSE(selection.wants_section("gc-minor"));
    EXPECT_FALSE(selection.wants_lines());
  }
}

TEST(LogSelection, PlainFileIsProfiling) {
  const LogSelection selection("out.log");
  EXPECT_TRUE(selection.wants_section("anything"));
  EXPECT_FALSE(selection.wants_lines());
  EXPECT_EQ(selection.file_pattern(), "out.log");
}

TEST(LogSelection, PlusNamesAFileWithAColon) {
  const LogSelection selection("+C:out:log");
  EXPECT_TRUE(selection.wants_section("anything"));
  EXPECT_FALSE(selection.wants_lines());
  EXPECT_EQ(selection.file_pattern(), "C:out:log");
  EXPECT_EQ(LogSelection("+plain").file_pattern(), "plain");
}

TEST(LogSelection, EmptyPrefixSelectsEverythingWithLines) {
  const LogSelection selection(":out");
  EXPECT_TRUE(selection.wants_section("anything"));
  EXPECT_TRUE(selection.wants_lines());
  EXPECT_EQ(selection.file_pattern(), "out");
}

TEST(LogSelection, PrefixesAndFirstColonSplits) {
  const LogSelection selection("gc-minor,jit:out:x");
  EXPECT_EQ(selection.file_pattern(), "out:x");
  EXPECT_TRUE(selection.wants_lines());
  EXPECT_TRUE(selection.wants_section("gc-minor"));
  EXPECT_TRUE(selection.wants_section("gc-minor-walkroots"));
  EXPECT_TRUE(selection.wants_section("jit-backend"));
  EXPECT_FALSE(selection.wants_section("gc-mino"));
  EXPECT_FALSE(selection.wants_section("gc-collect-step"));
  EXPECT_FALSE(selection.wants_section(""));
}

TEST(LogSelection, EmptyElementOfTheListMatchesEverything) {
  EXPECT_TRUE(LogSelection("gc,:out").wants_section("jit"));
  EXPECT_TRUE(LogSelection(",gc:out").wants_section("jit"));
}

TEST(LogSelection, ProcessIdReplacesTheFirstMark) {
  EXPECT_FALSE(LogSelection(":out").file_per_process());
  const LogSelection selection(":log.%d.%d");
  EXPECT_TRUE(selection.file_per_process());
  EXPECT_EQ(selection.file_name(), "log." + std::to_string(getpid()) + ".%d");
  EXPECT_EQ(LogSelection(":out").file_name(), "out");
}

}  // namespace
}  // namespace fallow::telemetry
