// The summary of a log in words: a table for people, JSON for programs.
#pragma once

#include <string>

#include "tools/fallow/log_summary.h"

namespace fallow::tool {

// "12 pauses: 10 minor, 2 with a step of a full collection"
std::string pauses_in_words(const LogSummary& summary);

// What the windows of the utilisation leave out; empty when nothing.
std::string windows_left_out_in_words(const LogSummary& summary);

// How many sections have no end, how many lines no beginning; a line each, none where all is well.
std::string damage_in_words(const LogSummary& summary);

std::string log_as_table(const LogSummary& summary, bool with_histograms);
std::string log_as_json(const std::string& file, const LogSummary& summary);

}  // namespace fallow::tool
