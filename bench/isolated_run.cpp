#include "bench/isolated_run.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "platform/resident.h"

namespace fallow::bench {

namespace {

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(1);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

/// In the child: the metrics and series, or what went wrong, as JSON into the pipe.
[[noreturn]] void answer(const Row& row, int pipe) {
  nlohmann::json reply = {{"metrics", nlohmann::json::array()}};
  try {
    platform::reset_peak_resident();
    for (const auto& [name, value] : row.run()) {
      if (std::isfinite(value)) reply["metrics"].push_back({name, value});
    }
    reply["series"] = nlohmann::json::array();
    if (row.series != nullptr) {
      for (const Series& each : row.series()) reply["series"].push_back({each.name, each.points});
    }
  } catch (const std::exception& error) {
    reply["error"] = error.what();
  }
  write_all(pipe, reply.dump());
  _exit(0);
}

Metrics metrics_of(const nlohmann::json& reply) {
  Metrics metrics;
  for (const auto& entry : reply["metrics"]) {
    metrics.emplace_back(entry[0].get<std::string>(), entry[1].get<double>());
  }
  return metrics;
}

std::vector<Series> series_of(const nlohmann::json& reply) {
  std::vector<Series> series;
  for (const auto& entry : reply["series"]) {
    series.push_back({entry[0].get<std::string>(), entry[1].get<Points>()});
  }
  return series;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) return fmt::format("ended by {}", strsignal(WTERMSIG(status)));
  return fmt::format("ended with code {}", WEXITSTATUS(status));
}

}  // namespace

Metrics run_isolated(const Row& row, std::vector<Series>* series) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot create a pipe");
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot create a process");
  if (child == 0) {
    // A benchmark that is killed leaves nobody behind who would disturb the next measurement.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(ends[0]);
    answer(row, ends[1]);
  }
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const nlohmann::json reply = nlohmann::json::parse(text, nullptr, false);
  if (reply.is_discarded()) {
    throw std::runtime_error(fmt::format("row '{}' {}", row.name, describe_end(status)));
  }
  if (reply.contains("error")) {
    const auto error = reply["error"].get<std::string>();
    throw std::runtime_error(fmt::format("row '{}': {}", row.name, error));
  }
  if (series != nullptr) *series = series_of(reply);
  return metrics_of(reply);
}

}  // namespace fallow::bench
