#include "platform/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "child_process.h"
#include "temporary_directory.h"

namespace fallow::platform {
namespace {

TEST(OutputFile, WritesWholePieces) {
  const test::TemporaryDirectory directory;
  directory.write("out", "old contents");
  OutputFile file;
  EXPECT_FALSE(file.is_open());
  EXPECT_EQ(file.open(directory.file("out")), "");
  EXPECT_TRUE(file.is_open());
  EXPECT_FALSE(file.is_terminal());
  errno = 77;
  EXPECT_EQ(file.write("one "), "");
  EXPECT_EQ(file.write(""), "");
  EXPECT_EQ(file.write(std::string(1 << 20, 'x')), "");
  EXPECT_EQ(errno, 77);
  file.close();
  EXPECT_EQ(test::read_file(directory.file("out")), "one " + std::string(1 << 20, 'x'));
}

TEST(OutputFile, FailureToOpenIsExplained) {
  OutputFile file;
  EXPECT_EQ(file.open("/nonexistent/x"), "cannot open '/nonexistent/x': No such file or directory");
  EXPECT_FALSE(file.is_open());
}

TEST(OutputFile, FullDiskIsExplained) {
  OutputFile file;
  ASSERT_EQ(file.open("/dev/full"), "");
  EXPECT_EQ(file.write("text"), "cannot write '/dev/full': No space left on device");
}

TEST(OutputFile, BrokenPipeIsAnErrorNotASignal) {
  const int status = test::run_in_child([] {
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0) return 1;
    close(ends[0]);
    OutputFile file;
    file.use_standard_error();
    if (file.write("text").find("Broken pipe") == std::string::npos) return 2;
    file.close();
    if (fcntl(STDERR_FILENO, F_GETFD) < 0) return 3;  // must stay open
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 0 ? 0 : 4;
  });
  EXPECT_EQ(status, 0);
}

TEST(OutputFile, FileSizeLimitIsAnErrorNotASignal) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("out");
  const int status = test::run_in_child([&path] {
    const rlimit limit{100, 100};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    OutputFile file;
    if (!file.open(path).empty()) return 2;
    return file.write(std::string(1000, 'x')).empty() ? 3 : 0;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace fallow::platform
