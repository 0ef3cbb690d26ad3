// What every table of a recording begins with.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "profile/analysis/profile.h"

namespace fallow::tool {

// The file, how it was sampled, the totals, the losses and the cost: four lines or five.
std::string summary_lines(const std::string& path, const profile::Profile& profile);

nlohmann::json summary_as_json(const std::string& path, const profile::Profile& profile);

nlohmann::json breakdown_as_json(const profile::Breakdown& bytes);

}  // namespace fallow::tool
