#include "bench/preloaded_run.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include "bench/stopwatch.h"
#include "platform/split_mix.h"

namespace fallow::bench {

namespace {

constexpr int kTurns = 5;
constexpr const char* kLibrary = "libfallow_malloc_profile.so";

std::filesystem::path own_path() { return std::filesystem::read_symlink("/proc/self/exe"); }

/// Allocates like programs with many small strings and tables do.
[[gnu::noinline]] std::uint64_t churn(std::uint64_t rounds) {
  std::map<std::string, std::vector<std::string>> tables;
  platform::SplitMix64 random(7);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    auto& table = tables[fmt::format("table {:>30}", random.next() % 5000)];
    table.push_back(std::string(20 + random.next() % 200, 'x'));
    if (table.size() > 20) table.clear();
    sum += table.size();
  }
  return sum;
}

/// CPU seconds of this executable doing `churn`, with these additions to its environment.
double run_child(const std::string& library, const std::string& recording) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot create a process");
  if (child == 0) {
    if (!library.empty()) {
      setenv("LD_PRELOAD", library.c_str(), 1);
      setenv("FALLOW_PROFILE", recording.c_str(), 1);
    }
    execl("/proc/self/exe", "fallow", "bench", "sample", "--work", "malloc/churn",
          static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error("the program that allocates has failed");
  }
  constexpr double kMicro = 1e-6;
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * kMicro;
}

Metrics run(const std::string& interval) {
  const std::filesystem::path library = own_path().parent_path() / kLibrary;
  if (!std::filesystem::exists(library)) {
    throw std::runtime_error(fmt::format("{} is not beside this executable", kLibrary));
  }
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("fallow-bench-{}.fallow", getpid());
  std::vector<double> off;
  std::vector<double> on;
  double bytes = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    off.push_back(run_child({}, {}));
    on.push_back(run_child(library, fmt::format("{},every={},force", file.string(), interval)));
    bytes = static_cast<double>(std::filesystem::file_size(file));
  }
  std::filesystem::remove(file);
  std::sort(off.begin(), off.end());
  std::sort(on.begin(), on.end());
  return {{"overhead_ratio", on[kTurns / 2] / off[kTurns / 2]},
          {"cpu_s", on[kTurns / 2]},
          {"off_cpu_s", off[kTurns / 2]},
          {"file_bytes", bytes}};
}

}  // namespace

void add_preloaded_rows(std::vector<Row>& rows) {
  constexpr std::uint64_t kRounds = 10'000'000;
  for (const char* const interval : {"32K", "512K"}) {
    rows.push_back({fmt::format("malloc/{}iB", interval), [=] { return run(interval); }, nullptr});
  }
  rows.push_back({"malloc/churn",
                  [] {
                    const Stopwatch watch;
                    keep(churn(kRounds));
                    return Metrics{{"cpu_s", watch.cpu_s()}};
                  },
                  [](std::uint64_t rounds) { keep(churn(rounds == 0 ? kRounds : rounds)); }});
}

}  // namespace fallow::bench
