#include "platform/memory_limit.h"

#include <gtest/gtest.h>

#include "temporary_directory.h"

namespace fallow::platform {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Builds trees like those that processes see.
class MemoryLimit : public testing::Test {
 protected:
  void group(const std::string& lines) { tree_.write("proc/self/cgroup", lines); }
  void mounts(const std::string& lines) { tree_.write("proc/self/mountinfo", lines); }
  void limit(const std::string& file, const std::string& text) {
    tree_.write("sys/fs/cgroup/" + file, text + "\n");
  }
  uint64_t read() const { return container_memory_limit(tree_.path()); }

  test::TemporaryDirectory tree_;
};

constexpr const char* kUnified =
    "25 30 0:23 / /proc rw - proc proc rw\n"
    "35 25 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kVersion1 =
    "33 25 0:29 /docker/abc /sys/fs/cgroup/memory ro,nosuid master:15 - cgroup cgroup rw,memory\n"
    "34 25 0:31 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n";

TEST_F(MemoryLimit, NothingToReadIsNoLimit) {
  EXPECT_EQ(read(), kNoMemoryLimit);
  group("0::/a\n");
  EXPECT_EQ(read(), kNoMemoryLimit);
  mounts(kUnified);
  EXPECT_EQ(read(), kNoMemoryLimit);
}

TEST_F(MemoryLimit, Version2) {
  group("0::/system.slice/app.service\n");
  mounts(kUnified);
  limit("system.slice/app.service/memory.max", "max");
  EXPECT_EQ(read(), kNoMemoryLimit);
  limit("system.slice/app.service/memory.max", "536870912");
  EXPECT_EQ(read(), 512 * kMiB);
}

TEST_F(MemoryLimit, TheSmallestOfAllGroupsAboveCounts) {
  group("0::/system.slice/app.service\n");
  mounts(kUnified);
  limit("system.slice/app.service/memory.max", "536870912");
  limit("system.slice/memory.max", "104857600");
  EXPECT_EQ(read(), 100 * kMiB);
  limit("system.slice/app.service/memory.high", "52428800");
  EXPECT_EQ(read(), 50 * kMiB);
}

TEST_F(MemoryLimit, InANamespaceTheMountIsTheGroup) {
  group("0::/\n");
  mounts(kUnified);
  limit("memory.max", "209715200");
  EXPECT_EQ(read(), 200 * kMiB);
}

TEST_F(MemoryLimit, AGroupOutsideTheMountIsTakenForTheMount) {
  group("0::/../../elsewhere\n");
  mounts(kUnified);
  limit("memory.max", "209715200");
  EXPECT_EQ(read(), 200 * kMiB);
}

TEST_F(MemoryLimit, Version1) {
  group("5:memory:/docker/abc/inner\n3:cpu,cpuacct:/docker/abc\n0::/\n");
  mounts(kVersion1);
  limit("memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(read(), kNoMemoryLimit);
  limit("memory/memory.limit_in_bytes", "1073741824");
  EXPECT_EQ(read(), 1024 * kMiB);
  limit("memory/inner/memory.limit_in_bytes", "268435456");
  EXPECT_EQ(read(), 256 * kMiB);
}

TEST_F(MemoryLimit, BothVersionsAtOnce) {
  group("5:memory:/docker/abc\n0::/\n");
  mounts(std::string(kVersion1) + "36 25 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  limit("memory/memory.limit_in_bytes", "268435456");
  limit("unified/memory.max", "134217728");
  EXPECT_EQ(read(), 128 * kMiB);
}

TEST_F(MemoryLimit, NonsenseIsNoLimit) {
  mounts(kUnified);
  for (const char* const lines : {"", "\n", "0:", "::", "nonsense", "0::/a\0b"}) {
    group(lines);
    EXPECT_EQ(read(), kNoMemoryLimit) << lines;
  }
  group("0::/\n");
  for (const char* const text : {"", "-1", "0", "12 MiB", "99999999999999999999999"}) {
    limit("memory.max", text);
    EXPECT_EQ(read(), kNoMemoryLimit) << text;
  }
  for (const char* const lines : {"", "-\n", "1 2 3 4\n", "35 25 0:30 / - cgroup2\n"}) {
    mounts(lines);
    EXPECT_EQ(read(), kNoMemoryLimit) << lines;
  }
}

TEST_F(MemoryLimit, ThisMachineCanBeAsked) { EXPECT_GT(container_memory_limit(), kMiB); }

}  // namespace
}  // namespace fallow::platform
