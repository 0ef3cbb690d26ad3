// What a log says: how often each kind of section occurred and how long it took.
//
// The format is that of FALLOW_LOG and of RPython's PYPYLOG: `[ticks] {name` begins a section,
// `[ticks] name}` ends it, in hexadecimal ticks of a clock; sections nest; other lines belong to
// the innermost one. A log that was cut off or damaged loses only what cannot be understood.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

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

struct LogSummary {
  double span_s = 0;                        // from the first stamp to the last
  std::vector<LogSectionSummary> sections;  // the largest total first
  std::uint64_t unfinished = 0;             // sections that the log does not end
  std::uint64_t damaged_lines = 0;          // ends of sections that had not begun
};

// Reads a whole log; O(sections) memory. A log of fallow names the length of a tick; for others
// `ticks_per_second` has to. Throws std::runtime_error when neither does, or nothing is a section.
LogSummary summarize_log(std::istream& log, std::optional<double> ticks_per_second);

}  // namespace fallow::tool
