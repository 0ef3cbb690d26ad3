// The pauses of a program, from the collections that its log names.
#pragma once

#include <cstdint>
#include <vector>

#include "telemetry/utilisation.h"
#include "tools/fallow/log_reader.h"

namespace fallow::tool {

// The kind is that of its largest part: a step of a full collection follows a minor one.
struct LogPause {
  LogCollection::Kind kind;
  telemetry::TimeSpan span;  // since the first stamp of the log
};

// Rounded. What no number of nanoseconds can tell, in a damaged log, is cut to over a century.
std::int64_t nanoseconds_of(std::uint64_t ticks, double ticks_per_second);

// In the order of their beginnings. Steps belong to the pause before them unless the program may
// have run in between; steps that are a whole collection together are a full one.
std::vector<LogPause> pauses_of(const LogContents& log, double ticks_per_second);

}  // namespace fallow::tool
