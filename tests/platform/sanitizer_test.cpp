#include "platform/sanitizer.h"

#include <gtest/gtest.h>

namespace fallow::platform {
namespace {

TEST(Sanitizer, PoisonIsSeenExactlyWhenAddressSanitizerIsActive) {
  alignas(64) static char memory[128];
  poison(memory, 64);
  EXPECT_EQ(is_poisoned(memory), address_sanitizer_active());
  EXPECT_EQ(is_poisoned(memory + 63), address_sanitizer_active());
  EXPECT_FALSE(is_poisoned(memory + 64));
  unpoison(memory, 64);
  EXPECT_FALSE(is_poisoned(memory));
}

TEST(Sanitizer, AtMostOneIsActive) {
  EXPECT_FALSE(address_sanitizer_active() && thread_sanitizer_active());
}

}  // namespace
}  // namespace fallow::platform
