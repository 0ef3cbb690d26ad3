// A log as one page of HTML that needs nothing else: the picture, the tables, the histograms.
#pragma once

#include <string>

#include "tools/fallow/log_summary.h"

namespace fallow::tool {

std::string log_as_html(const std::string& file, const LogSummary& summary);

}  // namespace fallow::tool
