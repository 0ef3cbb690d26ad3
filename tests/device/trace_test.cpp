#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "fallow/device_trace.h"
#include "platform/temporary_directory.h"
#include "tests/device/test_support.h"

namespace fallow::device {
namespace {

using test::kKiB;
using test::kMiB;
using test::TestDevice;

struct Recorder : TraceSink {
  void on_event(const TraceEvent& event) noexcept override { events.push_back(event); }
  std::vector<TraceEvent> events;
};

TEST(DeviceTrace, TellsAllocationsFreesAndFailures) {
  TestDevice test(64 * kKiB, test::undamped());
  const auto recorder = std::make_shared<Recorder>();
  auto token = test.device.add_trace(recorder);
  const Allocation block = test.device.allocate(1000);
  EXPECT_THROW(test.device.allocate(64 * kKiB), OutOfDeviceMemory);
  test.device.free_after(block, std::vector<StreamId>{9});
  token.reset();
  test.device.allocate(1);
  ASSERT_EQ(recorder->events.size(), 3U);
  const auto& [allocated, failed, freed] =
      std::tie(recorder->events[0], recorder->events[1], recorder->events[2]);
  EXPECT_EQ(allocated.action, TraceEvent::Action::kAllocate);
  EXPECT_EQ(allocated.allocation, block.number());
  EXPECT_EQ(allocated.bytes, 1000U);
  EXPECT_EQ(failed.action, TraceEvent::Action::kAllocateFailure);
  EXPECT_EQ(failed.bytes, 64 * kKiB);
  EXPECT_EQ(freed.action, TraceEvent::Action::kFree);
  EXPECT_EQ(freed.allocation, block.number());
  EXPECT_EQ(freed.bytes, 1000U);
  EXPECT_EQ(freed.stream, 9U);
}

TEST(DeviceTrace, WritesLinesThatCanBeReadAgain) {
  TraceEvent event;
  event.action = TraceEvent::Action::kFree;
  event.thread = 4711;
  event.time_ns = 45'296'789'012'345;
  event.allocation = 31;
  event.bytes = 4096;
  event.stream = 2;
  const std::string line = trace_line(event);
  EXPECT_EQ(line, "4711,12:34:56.789012,free,0x1f,4096,2\n");
  TraceEvent read;
  ASSERT_TRUE(parse_trace_line(line, read));
  EXPECT_EQ(trace_line(read), "4711,00:00:00.000000,free,0x1f,4096,2\n");
}

TEST(DeviceTrace, ReadsWhatRmmWrites) {
  TraceEvent event;
  ASSERT_TRUE(parse_trace_line("2971,15:03:54:287923,allocate,0x7f5c0be00000,256,0x0", event));
  EXPECT_EQ(event.allocation, 0x7f5c0be00000U);
  EXPECT_EQ(event.bytes, 256U);
  EXPECT_TRUE(parse_trace_line("1,15:03:54:287923,allocate failure,(nil),256,(nil)\r\n", event));
  EXPECT_EQ(event.action, TraceEvent::Action::kAllocateFailure);
  for (const char* const line :
       {"", "Thread,Time,Action,Pointer,Size,Stream", "1,t,allocate", "1,t,resize,0x1,2,0",
        "1,t,allocate,0xzz,2,0", "1,t,allocate,0x1,many,0", "1,t,allocate,0x1,2,x"}) {
    EXPECT_FALSE(parse_trace_line(line, event)) << line;
  }
}

TEST(DeviceTrace, GoesIntoAFile) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("trace.csv");
  TestDevice test(kMiB);
  const auto trace = std::make_shared<CsvTrace>(path);
  {
    const auto token = test.device.add_trace(trace);
    for (int i = 0; i < 2000; ++i) test.device.free(test.device.allocate(kKiB));
  }
  trace->flush();
  EXPECT_EQ(trace->error(), "");
  std::ifstream file(path);
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_EQ(line, trace_header());
  int lines = 0;
  TraceEvent event;
  for (; std::getline(file, line); ++lines) ASSERT_TRUE(parse_trace_line(line, event)) << line;
  EXPECT_EQ(lines, 4000);
  EXPECT_THROW(CsvTrace(directory.file("missing/trace.csv")), Error);
}

}  // namespace
}  // namespace fallow::device
