#include "platform/thread_id.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "child_process.h"

namespace fallow::platform {
namespace {

uint64_t id_from_kernel() { return static_cast<uint64_t>(syscall(SYS_gettid)); }

TEST(ThreadId, IsTheKernelsAndStable) {
  EXPECT_EQ(current_thread_id(), id_from_kernel());
  EXPECT_EQ(current_thread_id(), id_from_kernel());
}

TEST(ThreadId, DiffersBetweenThreads) {
  uint64_t other = 0, other_from_kernel = 0;
  std::thread([&] {
    other = current_thread_id();
    other_from_kernel = id_from_kernel();
  }).join();
  EXPECT_EQ(other, other_from_kernel);
  EXPECT_NE(other, current_thread_id());
}

TEST(ThreadId, IsRefreshedInAForkChild) {
  const uint64_t parent = current_thread_id();
  const int status = test::run_in_child([parent] {
    return current_thread_id() == id_from_kernel() && current_thread_id() != parent &&
                   current_process_id() == static_cast<uint64_t>(getpid())
               ? 0
               : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(CpuCount, IsPositive) { EXPECT_GE(cpu_count(), 1u); }

}  // namespace
}  // namespace fallow::platform
