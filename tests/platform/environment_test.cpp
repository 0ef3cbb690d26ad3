#include "platform/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace fallow::platform {
namespace {

constexpr const char* kName = "FALLOW_TEST_VARIABLE";

TEST(Environment, ReadsAndRemoves) {
  unset_environment(kName);
  EXPECT_EQ(environment(kName), std::nullopt);
  setenv(kName, "value", 1);
  EXPECT_EQ(environment(kName), "value");
  setenv(kName, "", 1);
  EXPECT_EQ(environment(kName), "");
  unset_environment(kName);
  EXPECT_EQ(environment(kName), std::nullopt);
  unset_environment(kName);
}

}  // namespace
}  // namespace fallow::platform
