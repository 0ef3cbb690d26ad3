// Reads a log, line by line, without judging what it says.
//
// The format is that of FALLOW_LOG and of RPython's PYPYLOG: `[ticks] {name` begins a section,
// `[ticks] name}` ends it, in hexadecimal ticks of a clock; sections nest; other lines belong to
// the innermost one. A log that was cut off or damaged loses only what cannot be understood.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <string>
#include <vector>

namespace fallow::tool {

// A section for which the program stands still, and which is not within another of that kind.
struct LogCollection {
  enum class Kind : std::uint8_t { kMinor, kStep, kFull };

  Kind kind;
  bool ends_cycle;  // holds a section gc-collect-done
  std::uint64_t begin;
  std::uint64_t end;
};

// A number of bytes that a line names.
struct LogBytes {
  std::uint64_t at;
  double bytes;
};

// All times in ticks.
struct LogContents {
  std::uint64_t ticks_per_second = 0;  // 0: the log does not say
  std::uint64_t first = 0;             // the smallest and the largest stamp
  std::uint64_t last = 0;
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> durations;  // by section
  std::vector<LogCollection> collections;                                    // as they ended
  std::vector<LogBytes> used;        // after each collection
  std::vector<LogBytes> thresholds;  // where the next full collection is to start
  std::uint64_t unfinished = 0;      // sections that the log does not end
  std::uint64_t damaged_lines = 0;   // ends of sections that had not begun
};

// O(sections) memory. Throws std::runtime_error when the stream fails.
LogContents read_log(std::istream& log);

}  // namespace fallow::tool
