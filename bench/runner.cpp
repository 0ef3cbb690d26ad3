#include "bench/runner.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "bench/isolated_run.h"

namespace fallow::bench {

namespace {

Measured::Figure figure_of(const std::string& name, const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {name, median(values), *least, *most};
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Measured summarize(const std::string& name, const std::vector<Metrics>& runs) {
  std::vector<std::pair<std::string, std::vector<double>>> columns;
  for (const Metrics& run : runs) {
    for (const auto& [metric, value] : run) {
      auto column = std::find_if(columns.begin(), columns.end(),
                                 [&](const auto& each) { return each.first == metric; });
      if (column == columns.end()) column = columns.insert(column, {metric, {}});
      column->second.push_back(value);
    }
  }
  Measured row{name, {}, {}};
  for (auto& [metric, values] : columns) {
    row.figures.push_back(figure_of(metric, values));
  }
  return row;
}

std::vector<Measured> measure(const std::vector<Row>& rows, int runs, const Progress& progress) {
  std::vector<std::vector<Metrics>> results(rows.size());
  std::vector<std::vector<Series>> series(rows.size());
  const std::size_t all = rows.size() * static_cast<std::size_t>(runs);
  std::size_t done = 0;
  for (int run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      progress(done++, all, rows[i].name);
      results[i].push_back(run_isolated(rows[i], &series[i]));
    }
  }
  std::vector<Measured> measured;
  measured.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    measured.push_back(summarize(rows[i].name, results[i]));
    measured.back().series = std::move(series[i]);
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
