#include "platform/fatal.h"

#include <gtest/gtest.h>

#include <string>

#include "fatal_capture.h"
#include "platform/sanitizer.h"

namespace fallow::platform {
namespace {

TEST(Fatal, WritesOneMessageAndAborts) {
  if (thread_sanitizer_active()) GTEST_SKIP() << "death tests fork";
  EXPECT_DEATH(fatal("block %d of '%s' is %s", 7, "old", "lost"),
               "fallow: block 7 of 'old' is lost\n");
}

TEST(Fatal, HandlerReceivesTheMessage) {
  const test::FatalCapture capture;
  try {
    fatal("number %d", 42);
    FAIL();
  } catch (const test::FatalError& error) {
    EXPECT_STREQ(error.what(), "number 42");
  }
}

TEST(Fatal, LongMessagesAreCut) {
  const test::FatalCapture capture;
  const std::string text(5000, 'x');
  try {
    fatal("%s", text.c_str());
    FAIL();
  } catch (const test::FatalError& error) {
    EXPECT_EQ(std::string(error.what()), std::string(1023, 'x'));
  }
}

TEST(Fatal, AbortsWhenTheHandlerReturns) {
  if (thread_sanitizer_active()) GTEST_SKIP() << "death tests fork";
  EXPECT_DEATH(
      {
        set_fatal_handler([](const char*) {});
        fatal("silent");
      },
      "");
}

TEST(Fatal, HandlersAreExchanged) {
  const FatalHandler mine = [](const char*) {};
  const FatalHandler before = set_fatal_handler(mine);
  EXPECT_EQ(set_fatal_handler(before), mine);
}

}  // namespace
}  // namespace fallow::platform
