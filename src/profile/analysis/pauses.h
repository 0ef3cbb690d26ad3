#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "profile/analysis/recording.h"

namespace fallow::profile {

struct PauseRow {
  PauseKind kind = PauseKind::kMinor;
  std::uint64_t count = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t max_ns = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t cpu_ns = 0;  ///< in total
};

struct Utilisation {
  std::uint32_t window_ms = 0;
  double part = 0;  ///< 0 to 1, of the window in which the program ran least
};

struct PauseSummary {
  std::vector<PauseRow> rows;  ///< of the kinds that occur
  std::vector<Utilisation>
      utilisation;                     ///< windows that are longer than the recording are left out
  std::vector<std::uint32_t> longest;  ///< indices into Recording::pauses, the longest first
};

/// `longest` bounds the list of that name.
PauseSummary pauses_of(const Recording& recording, std::size_t longest);

const char* kind_name(PauseKind kind);

/// "idle", "marking", "sweeping"; "?" for a number of a later version.
const char* state_name(std::uint8_t state);

}  // namespace fallow::profile
