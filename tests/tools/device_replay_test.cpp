#include "tools/fallow/device_replay.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace fallow::tool {
namespace {

DeviceTrace trace_of(const std::string& text) {
  std::istringstream input(text);
  return read_device_trace(input);
}

constexpr const char* kTrace =
    "Thread,Time,Action,Pointer,Size,Stream\n"
    "1,10:00:00:000001,allocate,0x1000,1000000,0x0\n"
    "1,10:00:00:000002,allocate,0x2000,500000,0x0\n"
    "1,10:00:00:000003,free,0x1000,1000000,0x0\n"
    "garbage\n"
    "2,10:00:00:000004,allocate failure,(nil),99,0x0\n"
    "2,10:00:00:000005,allocate,0x1000,100,0x0\n"
    "2,10:00:00:000006,free,0x3000,1,0x0\n";

TEST(DeviceReplay, ReadsATrace) {
  const DeviceTrace trace = trace_of(kTrace);
  EXPECT_EQ(trace.events.size(), 6U);
  EXPECT_EQ(trace.skipped_lines, 1U);
  EXPECT_EQ(trace.peak_bytes, 1'500'000U);
  EXPECT_THROW(trace_of(""), std::runtime_error);
  EXPECT_THROW(trace_of("Thread,Time,Action,Pointer,Size,Stream\n"), std::runtime_error);
}

TEST(DeviceReplay, PlaysIt) {
  const ReplayResult result = replay_device_trace(trace_of(kTrace), {});
  EXPECT_EQ(result.capacity_bytes, std::uint64_t{4} << 20);
  EXPECT_EQ(result.allocations, 3U);
  EXPECT_EQ(result.frees, 1U);
  EXPECT_EQ(result.failures, 0U);
  EXPECT_EQ(result.failures_recorded, 1U);
  EXPECT_EQ(result.unknown_frees, 1U);
  EXPECT_EQ(result.leaked, 2U);
  EXPECT_EQ(result.peak_used, 1'000'064U + 500'096U);
  const std::string text = replay_as_text(result);
  EXPECT_NE(text.find("allocations     3, 0 failed here, 1 failed in the trace"), std::string::npos)
      << text;
  EXPECT_EQ(nlohmann::json::parse(replay_as_json(result))["leaked"], 2);
}

// A small request in a large, fragmented pool.
TEST(DeviceReplay, CountsWhatDoesNotFit) {
  for (const device::FitStrategy fit : {device::FitStrategy::kSegregated,
                                        device::FitStrategy::kFirst, device::FitStrategy::kBest}) {
    const ReplayResult result =
        replay_device_trace(trace_of(kTrace), {.capacity_bytes = 1 << 20, .fit = fit});
    EXPECT_EQ(result.failures, 1U);
  }
}

}  // namespace
}  // namespace fallow::tool
