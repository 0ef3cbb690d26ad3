#include "telemetry/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../platform/child_process.h"
#include "../platform/temporary_directory.h"
#include "platform/clock.h"

namespace fallow::telemetry {
namespace {

// Replaces stamps, so that texts can be compared.
std::string without_stamps(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t end = text.find_first_not_of("0123456789abcdef", i + 1);
    if (text[i] == '[' && end > i + 1 && end != std::string::npos && text[end] == ']') {
      result += "[T]";
      i = end + 1;
    } else {
      result += text[i++];
    }
  }
  return result;
}

const std::string kClock =
    "[T] {gc-clock\nticks per second: " +
    std::to_string(static_cast<uint64_t>(platform::ticks_per_second() + .5)) +
    "\nclock: " + platform::ticks_source() + "\n[T] gc-clock}\n";

class Log : public testing::Test {
 protected:
  void TearDown() override { log_configure("", nullptr); }

  void configure(const std::string& prefixes) {
    std::string error = "untouched";
    ASSERT_TRUE(log_configure(prefixes + path(), &error)) << error;
    ASSERT_EQ(error, "");
  }
  std::string path() const { return directory_.file("log"); }
  std::string raw() const { return test::read_file(path()); }
  // What was written after the clock section.
  std::string written() const {
    const std::string text = without_stamps(raw());
    EXPECT_EQ(text.substr(0, kClock.size()), kClock);
    return text.substr(std::min(text.size(), kClock.size()));
  }

  test::TemporaryDirectory directory_;
};

void minor_collection() {
  LogSection minor("gc-minor");
  minor.line("minor collect, total memory used: %d", 4096);
  {
    LogSection roots("gc-minor-walkroots");
    roots.line("roots: %d", 3);
  }
  minor.line("time taken: %f", 0.25);
}

TEST_F(Log, EverythingWithLines) {
  configure(":");
  minor_collection();
  EXPECT_EQ(written(),
            "[T] {gc-minor\n"
            "minor collect, total memory used: 4096\n"
            "[T] {gc-minor-walkroots\n"
            "roots: 3\n"
            "[T] gc-minor-walkroots}\n"
            "time taken: 0.250000\n"
            "[T] gc-minor}\n");
}

TEST_F(Log, ProfilingHasNoLines) {
  configure("");
  minor_collection();
  EXPECT_EQ(written(),
            "[T] {gc-minor\n[T] {gc-minor-walkroots\n[T] gc-minor-walkroots}\n[T] gc-minor}\n");
}

TEST_F(Log, PlusNamesAFileWithAColon) {
  ASSERT_TRUE(log_configure("+" + path() + ":x", nullptr));
  minor_collection();
  EXPECT_NE(test::read_file(path() + ":x").find("{gc-minor"), std::string::npos);
}

TEST_F(Log, NestedSectionThatDoesNotMatchIsSilent) {
  configure("gc-minor,outer:");
  {
    LogSection outer("outer");
    LogSection silent("gc-collect-step");
    EXPECT_TRUE(outer.wants_lines());
    EXPECT_FALSE(silent.wants_lines());
    silent.line("not written");
    minor_collection();
  }
  const std::string text = written();
  EXPECT_EQ(text.find("not written"), std::string::npos);
  EXPECT_EQ(text.find("gc-collect"), std::string::npos);
  EXPECT_EQ(text.substr(0, 26), "[T] {outer\n[T] {gc-minor\nm");
}

TEST_F(Log, MatchingSectionInsideASilentOneIsWrittenAtItsEnd) {
  configure("gc-minor:");
  const LogSection silent("application");
  minor_collection();
  EXPECT_NE(written(), "");
}

TEST_F(Log, OutermostSectionIsWrittenAtItsEnd) {
  configure(":");
  {
    LogSection outer("outer");
    minor_collection();
    EXPECT_EQ(written(), "");
  }
  EXPECT_NE(written(), "");
}

TEST_F(Log, StampsAreTicksInLowerCaseHexAndGrow) {
  const uint64_t before = platform::ticks();
  configure(":");
  minor_collection();
  const uint64_t after = platform::ticks();
  std::istringstream lines(raw());
  uint64_t last = before;
  int marks = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.front() != '[') continue;
    ++marks;
    const std::string digits = line.substr(1, line.find(']') - 1);
    EXPECT_EQ(digits.find_first_not_of("0123456789abcdef"), std::string::npos) << line;
    EXPECT_NE(digits.front(), '0');
    const uint64_t stamp = std::stoull(digits, nullptr, 16);
    EXPECT_GE(stamp, last);
    last = stamp;
  }
  EXPECT_LE(last, after);
  EXPECT_EQ(marks, 6);
}

TEST_F(Log, DepthIsLimitedTo63) {
  configure(":");
  std::vector<std::unique_ptr<LogSection>> sections;
  for (int i = 1; i <= 70; ++i) {
    sections.push_back(std::make_unique<LogSection>("deep"));
    EXPECT_EQ(sections.back()->wants_lines(), i <= 63) << i;
  }
  while (!sections.empty()) sections.pop_back();
  std::string expected;
  for (int i = 0; i < 63; ++i) expected += "[T] {deep\n";
  for (int i = 0; i < 63; ++i) expected += "[T] deep}\n";
  EXPECT_EQ(written(), expected);
}

TEST_F(Log, Enabled) {
  EXPECT_FALSE(log_configure("", nullptr) && log_enabled("gc-minor"));
  configure("gc:");
  EXPECT_TRUE(log_enabled("gc-minor"));
  EXPECT_FALSE(log_enabled("jit"));
  configure("");
  EXPECT_TRUE(log_enabled("jit"));
}

TEST_F(Log, OffMeansSilent) {
  log_configure("", nullptr);
  LogSection section("gc-minor");
  EXPECT_FALSE(section.wants_lines());
  section.line("nothing %d", 1);
  EXPECT_FALSE(log_enabled("gc-minor"));
}

TEST_F(Log, LongLinesAreKept) {
  configure(":");
  for (const size_t length : {0u, 510u, 511u, 512u, 513u, 100000u}) {
    LogSection section("long");
    section.line("%s", std::string(length, 'x').c_str());
  }
  std::string expected;
  for (const size_t length : {0u, 510u, 511u, 512u, 513u, 100000u}) {
    expected += "[T] {long\n" + std::string(length, 'x') + "\n[T] long}\n";
  }
  EXPECT_EQ(written(), expected);
}

TEST_F(Log, EndlessSectionIsBounded) {
  configure(":");
  {
    LogSection outer("outer");
    const std::string line(1 << 20, 'x');
    for (int i = 0; i < 20; ++i) outer.line("%s", line.c_str());
    const LogSection inner("small");  // room for its marks was left
  }
  const std::string text = raw();
  EXPECT_LE(text.size(), (size_t{16} << 20) + 1000);
  EXPECT_NE(text.find("outer}\n"), std::string::npos);
  EXPECT_NE(without_stamps(text.substr(text.size() - 200))
                .find("{log-dropped\nlines and sections dropped: 5\n[T] log-dropped}\n"),
            std::string::npos);
}

TEST_F(Log, ReconfiguringDiscardsOpenSections) {
  configure(":");
  {
    LogSection outer("before");
    outer.line("lost");
    ASSERT_TRUE(log_configure(":" + directory_.file("second"), nullptr));
    outer.line("lost, too");
    minor_collection();
    outer.line("and this");
  }
  EXPECT_EQ(written(), "");
  const std::string second = without_stamps(test::read_file(directory_.file("second")));
  EXPECT_EQ(second.substr(0, kClock.size() + 14), kClock + "[T] {gc-minor\n");
  EXPECT_EQ(second.find("lost"), std::string::npos);
  EXPECT_EQ(second.find("before"), std::string::npos);
}

TEST_F(Log, SwitchingOffInsideASection) {
  configure(":");
  {
    LogSection outer("before");
    log_configure("", nullptr);
    LogSection inner("inner");
  }
  EXPECT_EQ(written(), "");
}

TEST_F(Log, UnwritableFileIsReported) {
  std::string error;
  EXPECT_FALSE(log_configure(":/nonexistent/log", &error));
  EXPECT_EQ(error, "cannot open '/nonexistent/log': No such file or directory");
  EXPECT_EQ(log_error(), error);
  EXPECT_FALSE(log_enabled("gc-minor"));
  minor_collection();
  EXPECT_FALSE(log_configure(":", &error));
  EXPECT_NE(error, "");
  EXPECT_TRUE(log_configure("", &error));
  EXPECT_EQ(error, "");
}

TEST_F(Log, FullDiskAtTheStartIsReported) {
  std::string error;
  EXPECT_FALSE(log_configure(":/dev/full", &error));
  EXPECT_EQ(error, "cannot write '/dev/full': No space left on device");
  minor_collection();
}

TEST_F(Log, FailureLaterSwitchesTheLogOff) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  const int reader = open(path().c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(log_configure(":" + path(), nullptr));
  minor_collection();
  EXPECT_EQ(log_error(), "");
  close(reader);
  errno = 77;
  minor_collection();  // a broken pipe
  EXPECT_EQ(errno, 77);
  EXPECT_NE(log_error().find("Broken pipe"), std::string::npos);
  EXPECT_FALSE(log_enabled("gc-minor"));
  minor_collection();
}

TEST_F(Log, ThreadsDoNotInterleave) {
  configure(":");
  constexpr int kThreads = 4, kRounds = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kRounds; ++i) {
        LogSection outer("outer");
        outer.line("thread %d round %d", t, i);
        LogSection inner("inner");
        inner.line("thread %d round %d", t, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = written();
  // Every piece follows the one before it, and each is that of one thread and one round.
  size_t position = 0;
  int pieces = 0;
  while (position < text.size()) {
    constexpr std::string_view kStart = "[T] {outer\n";
    ASSERT_EQ(text.substr(position, kStart.size()), kStart);
    position += kStart.size();
    const std::string line = text.substr(position, text.find('\n', position) + 1 - position);
    const std::string rest = line + "[T] {inner\n" + line + "[T] inner}\n[T] outer}\n";
    ASSERT_EQ(text.substr(position, rest.size()), rest);
    position += rest.size();
    ++pieces;
  }
  EXPECT_EQ(pieces, kThreads * kRounds);
}

TEST_F(Log, ReconfiguringBesideRunningThreads) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&done] {
      while (!done.load()) minor_collection();
    });
  }
  for (int i = 0; i < 50; ++i) configure(i % 2 == 0 ? ":" : "gc-minor-walk:");
  log_configure("", nullptr);
  done.store(true);
  for (std::thread& thread : threads) thread.join();
}

struct LogsAtThreadEnd {
  ~LogsAtThreadEnd() { minor_collection(); }
};

TEST_F(Log, SectionsDuringTheEndOfAThread) {
  configure("gc-minor:");
  std::thread([] {
    // Constructed before the log's own thread-local object, hence destroyed after it.
    thread_local LogsAtThreadEnd last;
    static_cast<void>(&last);
    minor_collection();
  }).join();
  const std::string text = written();
  EXPECT_EQ(std::count(text.begin(), text.end(), '}'), 4);
}

TEST_F(Log, ForkChildClosesTheLog) {
  configure(":");
  const int status = test::run_in_child([] {
    minor_collection();
    return log_enabled("gc-minor") ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(written(), "");
  minor_collection();  // the parent goes on
  EXPECT_NE(written(), "");
}

TEST_F(Log, ForkChildOpensItsOwnFileWhenNamedByProcess) {
  ASSERT_TRUE(log_configure("gc:" + directory_.file("log.%d"), nullptr));
  minor_collection();
  const std::string mine = directory_.file("log." + std::to_string(getpid()));
  const std::string before = test::read_file(mine);
  pid_t child = 0;
  const int status = test::run_in_child(
      [] {
        minor_collection();
        return log_error().empty() ? 0 : 1;
      },
      &child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(test::read_file(mine), before);
  const std::string other =
      without_stamps(test::read_file(directory_.file("log." + std::to_string(child))));
  EXPECT_EQ(other, without_stamps(before));
}

TEST_F(Log, SilentForkChildCreatesNoFile) {
  ASSERT_TRUE(log_configure(":" + directory_.file("log.%d"), nullptr));
  pid_t child = 0;
  EXPECT_EQ(test::run_in_child([] { return 0; }, &child), 0);
  EXPECT_NE(access(directory_.file("log." + std::to_string(child)).c_str(), F_OK), 0);
}

TEST_F(Log, ForkInsideASection) {
  ASSERT_TRUE(log_configure(":" + directory_.file("log.%d"), nullptr));
  pid_t child = 0;
  {
    LogSection outer("outer");
    outer.line("before the fork");
    child = fork();
    if (child == 0) {
      outer.line("in the child");  // of a section that belongs to the parent
      minor_collection();
    } else {
      outer.line("in the parent");
    }
  }
  if (child == 0) _exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const std::string mine =
      without_stamps(test::read_file(directory_.file("log." + std::to_string(getpid()))));
  EXPECT_EQ(mine, kClock + "[T] {outer\nbefore the fork\nin the parent\n[T] outer}\n");
  const std::string other =
      without_stamps(test::read_file(directory_.file("log." + std::to_string(child))));
  EXPECT_EQ(other.substr(0, kClock.size() + 14), kClock + "[T] {gc-minor\n");
  EXPECT_EQ(other.find("outer"), std::string::npos);
  EXPECT_EQ(other.find("in the"), std::string::npos);
}

TEST_F(Log, ForkWhileOtherThreadsLog) {
  ASSERT_TRUE(log_configure(":" + directory_.file("log.%d"), nullptr));
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&done] {
      while (!done.load()) minor_collection();
    });
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(test::run_in_child([] {
                minor_collection();
                return log_error().empty() ? 0 : 1;
              }),
              0);
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Log, StandardErrorIsUsedAndLeftOpen) {
  const std::string captured = directory_.file("stderr");
  const int status = test::run_in_child([&captured] {
    const int file = open(captured.c_str(), O_WRONLY | O_CREAT, 0600);
    if (dup2(file, STDERR_FILENO) < 0) return 1;
    if (!log_configure("gc-minor:-", nullptr)) return 2;
    minor_collection();
    log_configure("", nullptr);
    return write(STDERR_FILENO, "end\n", 4) == 4 ? 0 : 3;
  });
  EXPECT_EQ(status, 0);
  const std::string text = without_stamps(test::read_file(captured));
  EXPECT_EQ(text.substr(0, kClock.size() + 14), kClock + "[T] {gc-minor\n");
  EXPECT_EQ(text.substr(text.size() - 18), "[T] gc-minor}\nend\n");
}

}  // namespace
}  // namespace fallow::telemetry
