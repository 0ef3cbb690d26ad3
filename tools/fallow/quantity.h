// Estimates as people read them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "profile/analysis/estimate.h"

namespace fallow::tool {

// Fewer samples than this say little: such figures are marked.
inline constexpr std::uint64_t kFewSamples = 5;

// Three digits and a unit: "0 B", "999 B", "12.4 MiB", "1.00 GiB". Units are powers of 1024.
std::string format_amount(double bytes);

// "12.4 MiB ±9 % (k=480)"; "1.50 MiB ±110 % (k=3, few)"; "64.0 MiB (exact)"; "0 B".
std::string format_estimate(const profile::Tally& tally);

// "98 %"; "<1 %" for a little; "–" of nothing.
std::string format_part(double part, double whole);

// As format_seconds() of units.h; "–" without a value.
std::string format_age(std::optional<std::int64_t> nanoseconds);

nlohmann::json estimate_as_json(const profile::Tally& tally);

// JSON with texts that are no UTF-8 repaired, indented, with a line end.
std::string printed(const nlohmann::json& json);

}  // namespace fallow::tool
