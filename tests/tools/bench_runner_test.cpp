// Rows run in turn, each in a process of its own.
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/isolated_run.h"
#include "bench/runner.h"

namespace fallow::bench {
namespace {

void no_progress(std::size_t, std::size_t, const std::string&) {}

Row constant_row(const std::string& name, double value) {
  return {name, [value] { return Metrics{{"value", value}}; }, nullptr};
}

std::string failure_of(const Row& row) {
  try {
    run_isolated(row);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no failure";
}

TEST(BenchRunner, RowsTakeTurns) {
  std::vector<std::string> order;
  std::vector<std::size_t> done;
  const auto note = [&](std::size_t count, std::size_t all, const std::string& row) {
    EXPECT_EQ(all, 6U);
    done.push_back(count);
    order.push_back(row);
  };
  const auto rows = measure({constant_row("a", 1), constant_row("b", 2)}, 3, note);
  EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "a", "b", "a", "b"}));
  EXPECT_EQ(done, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[0].value("value"), 1);
  EXPECT_EQ(rows[1].value("value"), 2);
}

TEST(BenchRunner, EveryRunStartsInAFreshProcess) {
  static int runs_seen = 0;
  const Row row{"row", [] { return Metrics{{"runs_seen", ++runs_seen}}; }, nullptr};
  const auto rows = measure({row}, 3, no_progress);
  EXPECT_EQ(rows[0].figures[0].maximum, 1);
  EXPECT_EQ(runs_seen, 0);
}

TEST(BenchRunner, SeriesComeFromTheProcessOfTheLastRun) {
  static double runs_seen = 0;
  const Series line{"line", {{0, 1.0 / 3}, {2.5, 1e-9}}};
  const Row row{"row", [] { return Metrics{{"runs_seen", ++runs_seen}}; }, nullptr,
                [line] { return std::vector<Series>{line, {"seen", {{0, runs_seen}}}}; }};
  const auto rows = measure({row, constant_row("other", 1)}, 2, no_progress);
  ASSERT_EQ(rows[0].series.size(), 2U);
  EXPECT_EQ(rows[0].series[0].name, "line");
  EXPECT_EQ(rows[0].series[0].points, line.points);
  EXPECT_EQ(rows[0].series[1].points[0].second, 1);
  EXPECT_TRUE(rows[1].series.empty());
}

TEST(BenchRunner, FiguresArriveUnchanged) {
  const Metrics sent = {{"third", 1.0 / 3}, {"big", 1e300}, {"zero", 0}, {"negative", -2.5}};
  EXPECT_EQ(run_isolated({"row", [&] { return sent; }, nullptr}), sent);
}

TEST(BenchRunner, WhatIsNoNumberIsLeftOut) {
  const Row row{"row", [] { return Metrics{{"a", NAN}, {"b", INFINITY}, {"c", 1}}; }, nullptr};
  EXPECT_EQ(run_isolated(row), (Metrics{{"c", 1}}));
}

TEST(BenchRunner, ARowThatThrowsIsNamed) {
  const Row row{"alloc/x", []() -> Metrics { throw std::runtime_error("lost an object"); },
                nullptr};
  EXPECT_EQ(failure_of(row), "row 'alloc/x': lost an object");
}

TEST(BenchRunner, ARowThatDiesIsNamedWithTheReason) {
  const Row killed{"killed",
                   []() -> Metrics {
                     std::raise(SIGKILL);
                     return {};
                   },
                   nullptr};
  EXPECT_EQ(failure_of(killed), "row 'killed' ended by Killed");
  const Row left{"left", []() -> Metrics { std::_Exit(3); }, nullptr};
  EXPECT_EQ(failure_of(left), "row 'left' ended with code 3");
}

}  // namespace
}  // namespace fallow::bench
