#include "bench/runner.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "platform/resident.h"

namespace fallow::bench {

namespace {

/// Runs in the child: the metrics, or what went wrong, as JSON into the pipe.
void answer(const Row& row, int pipe) {
  nlohmann::json reply;
  try {
    platform::reset_peak_resident();
    for (const auto& [name, value] : row.run()) reply["metrics"].push_back({name, value});
  } catch (const std::exception& error) {
    reply["error"] = error.what();
  }
  const std::string text = reply.dump();
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(pipe, text.data() + written, text.size() - written);
    if (count <= 0) _exit(1);
    written += static_cast<std::size_t>(count);
  }
  _exit(0);
}

std::string read_all(int pipe) {
  std::string text;
  char buffer[4096];
  ssize_t count;
  while ((count = read(pipe, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

Metrics run_in_child(const Row& row) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot create a pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot create a process");
  if (child == 0) {
    close(ends[0]);
    answer(row, ends[1]);
  }
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const nlohmann::json reply = nlohmann::json::parse(text, nullptr, false);
  if (reply.is_discarded()) throw std::runtime_error("row " + row.name + " crashed");
  if (reply.contains("error")) {
    throw std::runtime_error("row " + row.name + ": " + reply["error"].get<std::string>());
  }
  Metrics metrics;
  for (const auto& entry : reply["metrics"]) {
    metrics.emplace_back(entry[0].get<std::string>(), entry[1].get<double>());
  }
  return metrics;
}

}  // namespace

Measured summarize(const std::string& name, const std::vector<Metrics>& runs) {
  Measured row{name, {}};
  for (std::size_t metric = 0; metric < runs.front().size(); ++metric) {
    std::vector<double> values;
    for (const Metrics& run : runs) values.push_back(run[metric].second);
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    const double median =
        values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
    row.figures.push_back({runs.front()[metric].first, median, values.front(), values.back()});
  }
  return row;
}

std::vector<Measured> measure(const std::vector<Row>& rows, int runs, const Progress& progress) {
  std::vector<std::vector<Metrics>> results(rows.size());
  const std::size_t all = rows.size() * static_cast<std::size_t>(runs);
  std::size_t done = 0;
  for (int run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      progress(done++, all, rows[i].name);
      results[i].push_back(run_in_child(rows[i]));
    }
  }
  std::vector<Measured> measured;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    measured.push_back(summarize(rows[i].name, results[i]));
  }
  return measured;
}

double Measured::value(const std::string& metric) const {
  for (const Figure& figure : figures) {
    if (figure.name == metric) return figure.median;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace fallow::bench
