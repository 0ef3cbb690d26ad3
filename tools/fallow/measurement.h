// Builds both indexes, asks them, compares them, and measures all of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fallow/options.h"
#include "fallow/statistics.h"
#include "tools/fallow/comparison.h"
#include "tools/fallow/progress.h"
#include "tools/fallow/queries.h"
#include "tools/fallow/text_files.h"

namespace fallow::tool {

// One duration in seconds. CPU time is that of the whole process.
struct Duration {
  double wall_s = 0;
  double cpu_s = 0;
};

// What one index cost in one round.
struct Costs {
  Duration build;
  Duration queries;
  Duration release;                     // giving all its memory back
  std::uint64_t peak_growth_bytes = 0;  // resident memory at most, less that before the start
};

struct Round {
  Costs managed;
  Costs standard;
  HeapStatistics heap;  // after the questions
};

struct Verification {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> complaints;
};

struct Measurement {
  std::vector<Round> rounds;
  std::uint64_t words = 0;
  std::uint64_t distinct_words = 0;
  std::uint64_t nursery_bytes = 0;
  bool has_peaks = false;  // whether the system can tell the peak of a part of the run
  std::vector<Answer> answers;
  Comparison comparison;      // of all rounds together
  bool verified = false;      // whether `verification` was asked for
  Verification verification;  // of the last round
};

struct MeasurementOptions {
  HeapOptions heap;
  std::uint32_t rounds = 1;  // at least 1
  bool verify = false;
};

// One round after the other; in each first the managed, then the standard index, on one thread,
// from the same texts. Heap, mutator and tables are created within the time of the managed one.
Measurement measure(const TextFiles& texts, const MeasurementOptions& options, Progress& progress);

}  // namespace fallow::tool
