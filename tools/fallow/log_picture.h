// A log as a picture: every pause over time, and the size of the heap.
#pragma once

#include <string>

#include "tools/fallow/log_summary.h"

namespace fallow::tool {

// "gc.log: 12 pauses in 1.23 s"
std::string log_title(const std::string& file, const LogSummary& summary);

// An SVG document. Of pauses that share a column of pixels only the longest of each kind is drawn,
// so that the size of the picture is bounded.
std::string log_as_svg(const std::string& file, const LogSummary& summary);

}  // namespace fallow::tool
