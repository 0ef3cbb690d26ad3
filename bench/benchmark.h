#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/series.h"

namespace fallow::bench {

/// One figure of a row; the name carries the unit.
using Metrics = std::vector<std::pair<std::string, double>>;

/// What is measured: a subject, or a subject and a variant ("live/init"). `run` measures once and
/// is called in a fresh process each time, so that no row sees the memory of another.
struct Row {
  std::string name;
  std::function<Metrics()> run;
  /// Set for rows whose instructions can be counted: the same work over a given number of objects.
  std::function<void(std::uint64_t objects)> work;
  /// Set for rows that record what a picture shows: asked after `run`, in the same process.
  std::function<std::vector<Series>()> series = nullptr;
};

/// What the user asked for.
struct Options {
  std::uint64_t n = 0;  ///< size of the work in the benchmark's own unit; 0: its default
  int runs = 5;
  bool json = false;
  bool callgrind = false;
  std::string rows;          ///< only rows whose names contain this
  std::string output = ".";  ///< folder for pictures
};

/// The options do not fit the benchmark.
class BadOption : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A row over all its runs.
struct Measured {
  struct Figure {
    std::string name;
    double median;
    double minimum;
    double maximum;
  };
  std::string name;
  std::vector<Figure> figures;
  std::vector<Series> series = {};  ///< of the last run

  /// The median of a metric; NaN if the row has none of that name.
  [[nodiscard]] double value(const std::string& metric) const;
};

struct Picture {
  const char* file;  ///< its name, in the folder that the user chose
  std::string (*draw)(const std::vector<Measured>& rows);
};

struct Benchmark {
  const char* name;
  const char* help;
  const char* unit_of_n;  ///< what --n counts, with the default
  /// Throws BadOption.
  std::vector<Row> (*rows)(const Options& options);
  std::vector<Picture> pictures = {};  ///< written after the table
};

/// All benchmarks, in the order in which they are listed.
const std::vector<Benchmark>& benchmarks();

/// The rows of each benchmark; one function a file.
std::vector<Row> alloc_rows(const Options& options);
std::vector<Row> gcbench_rows(const Options& options);
std::vector<Row> minor_rows(const Options& options);
std::vector<Row> barrier_rows(const Options& options);
std::vector<Row> roots_rows(const Options& options);
std::vector<Row> threads_rows(const Options& options);
std::vector<Row> nursery_rows(const Options& options);
std::string nursery_as_svg(const std::vector<Measured>& rows);
std::vector<Row> pause_rows(const Options& options);
std::vector<Row> tree_rss_rows(const Options& options);
std::vector<Row> ring_rows(const Options& options);
std::vector<Row> rss_rows(const Options& options);
std::vector<Row> device_rows(const Options& options);
std::vector<Row> sample_rows(const Options& options);
std::vector<Row> lives_rows(const Options& options);
std::vector<Row> server_rows(const Options& options);
std::string server_as_svg(const std::vector<Measured>& rows);
std::string server_as_html(const std::vector<Measured>& rows);

}  // namespace fallow::bench
