// What the heap writes to the log: the sections and lines that readers of RPython logs know, byte
// for byte.
#include "telemetry/log.h"

#include <cstdint>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

class HeapLog : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "fallow_heap_log_" + std::to_string(getpid());
  }
  void TearDown() override {
    telemetry::log_configure("", nullptr);
    unlink(path_.c_str());
  }

  /// The lines of the log that `body` causes under a specification that ends with the file name.
  template <class Body>
  std::vector<std::string> log_of(const std::string& selection, Body&& body) {
    std::string error;
    EXPECT_TRUE(telemetry::log_configure(selection + path_, &error)) << error;
    body();
    telemetry::log_configure("", nullptr);
    std::vector<std::string> lines;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  /// The inner lines of all sections of a category, nested sections left out.
  static std::vector<std::vector<std::string>> sections(const std::vector<std::string>& lines,
                                                        const std::string& category) {
    std::vector<std::vector<std::string>> found;
    std::vector<std::string> open;
    for (const std::string& line : lines) {
      std::smatch match;
      if (std::regex_match(line, match, std::regex(R"(\[[0-9a-f]+\] \{(\S+))"))) {
        open.push_back(match[1]);
        if (open.back() == category) found.emplace_back();
      } else if (std::regex_match(line, match, std::regex(R"(\[[0-9a-f]+\] (\S+)\})"))) {
        EXPECT_FALSE(open.empty()) << line;
        if (open.empty()) continue;
        EXPECT_EQ(open.back(), match[1]) << "sections nest";
        open.pop_back();
      } else if (!open.empty() && open.back() == category) {
        found.back().push_back(line);
      }
    }
    EXPECT_TRUE(open.empty()) << "a section is not closed";
    return found;
  }

  static void expect_lines(const std::vector<std::string>& lines,
                           const std::vector<std::string>& patterns) {
    ASSERT_EQ(lines.size(), patterns.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_TRUE(std::regex_match(lines[i], std::regex(patterns[i])))
          << "'" << lines[i] << "' is not like '" << patterns[i] << "'";
    }
  }

  std::string path_;
};

TEST_F(HeapLog, MinorCollections) {
  HeapStatistics statistics;
  const std::vector<std::string> lines = log_of(":", [&] {
    TestHeap test(with_nursery(64 * kKiB));
    const Local<Node> list(test.mutator, make_list(test.mutator, 20));
    test.heap.collect_minor();
    test.heap.collect_minor();
    statistics = test.heap.statistics();
  });
  const auto minors = sections(lines, "gc-minor");
  ASSERT_EQ(minors.size(), 2U);
  EXPECT_EQ(sections(lines, "gc-minor-walkroots").size(), 2U);
  for (const auto& minor : minors) {
    expect_lines(minor,
                 {R"(minor collect, total memory used: \d+)", R"(number of pinned objects: \d+)",
                  R"(total size of surviving objects: \d+)", R"(time taken: \d+\.\d{6})"});
  }
  EXPECT_EQ(minors[0][0],
            "minor collect, total memory used: " + std::to_string(statistics.old_used));
  EXPECT_EQ(minors[0][2], "total size of surviving objects: " + std::to_string(20 * sizeof(Node)));
  EXPECT_EQ(minors[1][2], "total size of surviving objects: 0");
}

TEST_F(HeapLog, FullCollections) {
  HeapStatistics statistics;
  const std::vector<std::string> lines = log_of(":", [&] {
    TestHeap test(with_nursery(64 * kKiB));
    const Local<Node> list(test.mutator, make_list(test.mutator, 1000));
    make_values<Bytes>(test.mutator, 100 * kKiB);
    test.heap.collect();
    statistics = test.heap.statistics();
  });
  const auto steps = sections(lines, "gc-collect-step");
  ASSERT_GE(steps.size(), 3U);
  std::vector<std::string> states;
  for (const auto& step : steps) {
    ASSERT_GE(step.size(), 3U);
    std::smatch start;
    std::smatch stop;
    ASSERT_TRUE(std::regex_match(
        step.front(), start,
        std::regex(R"(starting gc state:  (SCANNING|MARKING|SWEEPING|FINALIZING))")))
        << step.front();
    ASSERT_TRUE(std::regex_match(
        step[step.size() - 2], stop,
        std::regex(R"(stopping, now in gc state:  (SCANNING|MARKING|SWEEPING|FINALIZING))")))
        << step[step.size() - 2];
    ASSERT_TRUE(std::regex_match(step.back(), std::regex(R"(time taken:  \d+\.\d{6})")))
        << step.back();
    if (states.empty()) states.push_back(start[1]);
    EXPECT_EQ(states.back(), start[1]) << "each step goes on where the last one stopped";
    states.push_back(stop[1]);
  }
  EXPECT_EQ(states.front(), "SCANNING");
  EXPECT_EQ(states.back(), "SCANNING");
  const auto done = sections(lines, "gc-collect-done");
  ASSERT_EQ(done.size(), 1U);
  // Labels padded to 22 columns; values joined by single blanks.
  expect_lines(done[0], {R"(arenas:                \d+  =>  \d+)", R"(bytes used in arenas:  \d+)",
                         R"(bytes raw-malloced:    \d+  =>  \d+)",
                         R"(next major collection threshold:  \d+\.\d{6})"});
  EXPECT_EQ(done[0][1], "bytes used in arenas:  " + std::to_string(statistics.old_used));
  EXPECT_EQ(done[0][3], "next major collection threshold:  " +
                            std::to_string(static_cast<double>(statistics.next_full_at)));
}

TEST_F(HeapLog, TheNurserySizeAndWhereItComesFrom) {
  std::size_t chosen = 0;
  const std::vector<std::string> lines = log_of(":", [&] {
    const Heap heap;
    chosen = heap.options().nursery_bytes;
  });
  const auto size = sections(lines, "gc-set-nursery-size");
  ASSERT_EQ(size.size(), 1U);
  ASSERT_EQ(size[0].size(), 1U);
  EXPECT_EQ(size[0][0], "nursery size: " + std::to_string(chosen));
  const auto hardware = sections(lines, "gc-hardware");
  ASSERT_EQ(hardware.size(), 1U);
  ASSERT_FALSE(hardware[0].empty());
  EXPECT_TRUE(std::regex_match(hardware[0][0], std::regex(R"(L2cache = \d+)"))) << hardware[0][0];
}

TEST_F(HeapLog, StampsAreTicksThatNeverGoBack) {
  const std::vector<std::string> lines = log_of(":", [] {
    TestHeap test(with_nursery(16 * kKiB));
    make_garbage(test.mutator, 200 * kKiB);
    test.heap.collect();
  });
  std::uint64_t last = 0;
  std::size_t stamps = 0;
  for (const std::string& line : lines) {
    if (line.empty() || line[0] != '[') continue;
    const std::uint64_t stamp = std::stoull(line.substr(1), nullptr, 16);
    EXPECT_GE(stamp, last) << line;
    last = stamp;
    ++stamps;
  }
  EXPECT_GT(stamps, 40U);
}

TEST_F(HeapLog, PrefixesSelectSections) {
  const std::vector<std::string> lines = log_of("gc-minor:", [] {
    TestHeap test(with_nursery(64 * kKiB));
    test.heap.collect();
  });
  EXPECT_EQ(sections(lines, "gc-minor").size(), 1U);
  EXPECT_EQ(sections(lines, "gc-minor-walkroots").size(), 1U);
  EXPECT_EQ(sections(lines, "gc-collect-step").size(), 0U);
  EXPECT_EQ(sections(lines, "gc-set-nursery-size").size(), 0U);
}

TEST_F(HeapLog, ProfilingModeHasNoLinesInside) {
  const std::vector<std::string> lines = log_of("+", [] {
    TestHeap test(with_nursery(64 * kKiB));
    test.heap.collect();
  });
  const auto minors = sections(lines, "gc-minor");
  ASSERT_EQ(minors.size(), 1U);
  EXPECT_TRUE(minors[0].empty());
  EXPECT_GE(sections(lines, "gc-collect-step").size(), 3U);
}

}  // namespace
}  // namespace fallow::test
