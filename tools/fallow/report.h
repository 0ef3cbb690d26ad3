// What the demo tells about a measurement, as text for people and as JSON for programs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/fallow/measurement.h"
#include "tools/fallow/text_files.h"

namespace fallow::tool {

// The middle of several values (of an even number the greater one of the middle two), and the ends.
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};
Spread spread_of(const std::vector<Round>& rounds,
                 const std::function<double(const Round&)>& value);

// The round with the median time to build the managed index; heap figures are those of that one.
const Round& median_round(const std::vector<Round>& rounds);

struct ReportInput {
  const std::vector<std::string>& directories;
  const TextFiles& texts;
  const Measurement& measurement;
};

std::string report_as_text(const ReportInput& input);

// Members: version, directories, corpus, rounds, fallow, standard, questions, comparison, and
// verification after --check. Names end in their unit.
std::string report_as_json(const ReportInput& input);

}  // namespace fallow::tool
