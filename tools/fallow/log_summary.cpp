#include "tools/fallow/log_summary.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string_view>

namespace fallow::tool {
namespace {

constexpr std::string_view kTicksLine = "ticks per second: ";

struct Stamp {
  std::uint64_t ticks;
  std::string_view rest;
};

// `[1f] rest`
std::optional<Stamp> stamp_of(std::string_view line) {
  const std::size_t close = line.find("] ");
  if (!line.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  Stamp stamp{0, line.substr(close + 2)};
  const char* const end = line.data() + close;
  const auto [stop, error] = std::from_chars(line.data() + 1, end, stamp.ticks, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return stamp;
}

class Reader {
 public:
  void read(std::string_view line) {
    if (line.starts_with(kTicksLine)) {
      const std::string_view number = line.substr(kTicksLine.size());
      std::from_chars(number.data(), number.data() + number.size(), ticks_per_second_);
      return;
    }
    const std::optional<Stamp> stamp = stamp_of(line);
    if (!stamp) return;
    if (stamp->rest.starts_with('{') && stamp->rest.size() > 1) {
      note(stamp->ticks);
      open_.push_back({std::string(stamp->rest.substr(1)), stamp->ticks});
    } else if (stamp->rest.ends_with('}') && stamp->rest.size() > 1) {
      note(stamp->ticks);
      close(stamp->rest.substr(0, stamp->rest.size() - 1), stamp->ticks);
    }
  }

  LogSummary summary(std::optional<double> ticks_per_second) {
    if (durations_.empty() && open_.empty()) {
      throw std::runtime_error("this is no log: it holds no section");
    }
    const double ticks = ticks_per_second.value_or(static_cast<double>(ticks_per_second_));
    if (!(ticks > 0)) {
      throw std::runtime_error(
          "the log does not say how long a tick is; pass --ticks-per-second, for a log of PyPy the "
          "frequency of the processor's time stamp counter");
    }
    LogSummary summary;
    summary.span_s = static_cast<double>(last_ - first_) / ticks;
    summary.unfinished = unfinished_ + open_.size();
    summary.damaged_lines = damaged_;
    for (auto& [name, durations] : durations_) {
      summary.sections.push_back(summarize(name, durations, ticks));
    }
    std::sort(summary.sections.begin(), summary.sections.end(), [](const auto& a, const auto& b) {
      return a.total_s != b.total_s ? a.total_s > b.total_s : a.name < b.name;
    });
    return summary;
  }

 private:
  struct Open {
    std::string name;
    std::uint64_t began;
  };

  void note(std::uint64_t ticks) {
    if (!started_) first_ = ticks;
    started_ = true;
    last_ = std::max(last_, ticks);
  }

  void close(std::string_view name, std::uint64_t ticks) {
    const auto is_it = [name](const Open& open) { return open.name == name; };
    const auto found = std::find_if(open_.rbegin(), open_.rend(), is_it);
    if (found == open_.rend() || ticks < found->began) {
      ++damaged_;
      return;
    }
    // What began within it and has no end was cut out of the log.
    unfinished_ += static_cast<std::uint64_t>(found - open_.rbegin());
    durations_[found->name].push_back(ticks - found->began);
    open_.erase(found.base() - 1, open_.end());
  }

  static LogSectionSummary summarize(const std::string& name, std::vector<std::uint64_t>& durations,
                                     double ticks_per_second) {
    std::sort(durations.begin(), durations.end());
    const auto us = [ticks_per_second](std::uint64_t ticks) {
      return static_cast<double>(ticks) / ticks_per_second * 1e6;
    };
    // The smallest duration that the given part of all does not exceed.
    const auto percentile = [&](double part) {
      const double rank = std::ceil(part * static_cast<double>(durations.size()));
      return us(durations[static_cast<std::size_t>(std::max(rank, 1.0)) - 1]);
    };
    LogSectionSummary section{.name = name,
                              .count = durations.size(),
                              .p50_us = percentile(0.5),
                              .p90_us = percentile(0.9),
                              .p99_us = percentile(0.99),
                              .p999_us = percentile(0.999),
                              .max_us = us(durations.back()),
                              .histogram = {}};
    double from = 0;
    double to = 1;
    while (to <= us(durations.front())) {
      from = to;
      to *= 2;
    }
    section.histogram.push_back({from, to, 0});
    for (const std::uint64_t ticks : durations) {
      section.total_s += us(ticks) * 1e-6;
      for (; us(ticks) >= to; section.histogram.push_back({from, to, 0})) {
        from = to;
        to *= 2;
      }
      ++section.histogram.back().count;
    }
    return section;
  }

  std::uint64_t ticks_per_second_ = 0;
  bool started_ = false;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::vector<Open> open_;
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> durations_;
  std::uint64_t unfinished_ = 0;
  std::uint64_t damaged_ = 0;
};

}  // namespace

LogSummary summarize_log(std::istream& log, std::optional<double> ticks_per_second) {
  Reader reader;
  for (std::string line; std::getline(log, line);) {
    if (line.ends_with('\r')) line.pop_back();
    reader.read(line);
  }
  if (log.bad()) throw std::runtime_error("the log cannot be read to its end");
  return reader.summary(ticks_per_second);
}

}  // namespace fallow::tool
