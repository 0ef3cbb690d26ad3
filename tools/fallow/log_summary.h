// What a log says: how often each kind of section occurred and how long it took, how long the
// program stood still for collections, and how large its heap was.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "tools/fallow/log_pauses.h"

namespace fallow::tool {

struct LogBucket {
  double from_us;
  double to_us;
  std::uint64_t count;
};

// All sections of one name; times include the sections within.
struct LogSectionSummary {
  std::string name;
  std::uint64_t count = 0;
  double total_s = 0;
  double p50_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double max_us = 0;
  std::vector<LogBucket> histogram;  // each bucket twice as wide as the one before; without gaps
};

// Of all windows of a length, the one in which the program ran least.
struct LogUtilisation {
  std::uint64_t window_ms;
  double part;  // 0 to 1
};

struct LogMemory {
  double at_s;  // since the first stamp
  double bytes;
};

struct LogSummary {
  double span_s = 0;                        // from the first stamp to the last
  std::vector<LogSectionSummary> sections;  // the largest total first
  std::uint64_t unfinished = 0;             // sections that the log does not end
  std::uint64_t damaged_lines = 0;          // ends of sections that had not begun
  std::vector<LogPause> pauses;
  std::vector<LogUtilisation> utilisation;         // empty when there are no pauses
  std::vector<std::uint64_t> windows_left_out_ms;  // longer than the log
  std::vector<LogMemory> used;                     // after each collection; several heaps are one
  std::vector<LogMemory> thresholds;               // where the next full collection is to start

  [[nodiscard]] std::uint64_t pauses_of_kind(LogCollection::Kind kind) const;
};

// Reads a whole log; O(sections) memory. A log of fallow names the length of a tick; for others
// `ticks_per_second` has to. Throws std::runtime_error when neither does, or nothing is a section.
LogSummary summarize_log(std::istream& log, std::optional<double> ticks_per_second);

}  // namespace fallow::tool
