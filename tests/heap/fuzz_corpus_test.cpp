// The fuzz target's body on random inputs, so that it runs with every compiler and sanitizer.
#include <cstdint>
#include <vector>

#include "fuzz/heap_operations.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

TEST(FuzzCorpus, RandomBytes) {
  const std::size_t inputs = scaled(120) * step_multiplier();
  const std::uint64_t first = seed_or(1);
  for (std::uint64_t seed = first; seed < first + inputs; ++seed) {
    std::vector<std::uint8_t> bytes(200 + scramble(seed) % 6000);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>(scramble(seed * 1'000'003 + i));
    }
    ASSERT_EQ(run_heap_operations(bytes), "") << "FALLOW_TEST_SEED=" << seed;
  }
}

TEST(FuzzCorpus, ShortAndUniformBytes) {
  ASSERT_EQ(run_heap_operations({}), "");
  for (unsigned value = 0; value < 256; value += 5) {
    const std::vector<std::uint8_t> bytes(scaled(400), static_cast<std::uint8_t>(value));
    ASSERT_EQ(run_heap_operations(bytes), "") << "bytes of value " << value;
  }
}

}  // namespace
}  // namespace fallow::test
