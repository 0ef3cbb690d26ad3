// What the tests of the recorder share.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fallow/profile.h"
#include "platform/split_mix.h"
#include "profile/analysis/recording_reader.h"
#include "telemetry/byte_sampler.h"
#include "tests/support.h"

namespace fallow::test {

/// A folder of its own for each test, removed at the end.
class RecordTest : public ::testing::Test {
 protected:
  RecordTest() {
    char pattern[] = "/tmp/fallow-record-XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~RecordTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::string path(const std::string& name = "test.fallow") const {
    return folder_ + "/" + name;
  }
  [[nodiscard]] profile::RecorderOptions options(std::size_t interval = 1024) const {
    profile::RecorderOptions given;
    given.file = path();
    given.interval_bytes = interval;
    given.all_heaps = false;
    return given;
  }

  const Watchdog watchdog_;

 private:
  std::string folder_;
};

/// An allocator as far as sampling sees it: sizes go by, some are chosen.
class SampledAllocator {
 public:
  SampledAllocator(SampleSink& sink, std::size_t interval, std::uint64_t seed = 1)
      : sink_(sink), sampler_(seed, interval) {}

  /// The id of the sample, or 0.
  [[gnu::noinline]] SampleId allocate(std::size_t bytes) {
    allocated_ += bytes;
    ++objects_;
    if (!sampler_.chooses(bytes)) return 0;
    const SampleId id = sink_.on_sample({bytes, sampler_.interval_bytes(), SampleRoute::kMalloc});
    samples_ += id != 0 ? 1 : 0;
    return id;
  }
  void set_interval(std::size_t bytes) { sampler_.set_interval(bytes); }
  [[nodiscard]] std::uint64_t allocated() const { return allocated_; }
  [[nodiscard]] std::uint64_t objects() const { return objects_; }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }

 private:
  SampleSink& sink_;
  telemetry::ByteSampler sampler_;
  std::uint64_t allocated_ = 0;
  std::uint64_t objects_ = 0;
  std::uint64_t samples_ = 0;
};

/// Reads a recording that must be sound up to its end.
inline profile::Recording read_sound(const std::string& path) {
  profile::Recording recording = profile::read_recording_file(path);
  EXPECT_FALSE(recording.damage.has_value()) << path;
  return recording;
}

/// The entries of a sample's stack, the innermost first.
inline std::vector<profile::Node> stack_of(const profile::Recording& recording,
                                           std::uint32_t node) {
  std::vector<profile::Node> stack;
  for (; node != 0; node = recording.definitions.nodes[node].parent) {
    stack.push_back(recording.definitions.nodes[node]);
  }
  return stack;
}

/// Runs `body` in a child of fork; its exit code, or minus the signal that ended it.
inline int in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace fallow::test
