// A program that was never run: allocates at known places, is sampled as a real one would be, and
// knows the truth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/split_mix.h"
#include "tests/profile/recording_builder.h"

namespace fallow::test {

struct SimulatedSite {
  std::string type;
  std::vector<std::string> stack;  // root first
  std::uint64_t bytes = 0;         // of an object
  double share = 1;                // of the allocations
  double survives = 0;             // a minor collection, in parts of 1
  double half_life_s = 1;          // of what survives; 0: for ever
};

struct SimulatedTruth {
  double allocated = 0;
  double died_young = 0;
  double live = 0;
  std::uint64_t objects = 0;
};

struct SimulationOptions {
  std::uint64_t seed = 1;
  std::uint64_t interval_bytes = 64 << 10;
  std::uint64_t objects = 100'000;
  double seconds = 10;
  std::uint64_t minor_collections = 100;
};

class SimulatedProgram {
 public:
  explicit SimulatedProgram(std::vector<SimulatedSite> sites);

  /// Writes a whole recording of one thread, with pauses and levels.
  void record(const SimulationOptions& options, RecordingBuilder& builder);

  /// By site, of the last recording.
  [[nodiscard]] const std::vector<SimulatedTruth>& truth() const { return truth_; }
  [[nodiscard]] const std::vector<SimulatedSite>& sites() const { return sites_; }

 private:
  struct Dying {
    std::int64_t time_ns;
    std::uint64_t sequence;
  };
  class Run;

  std::vector<SimulatedSite> sites_;
  std::vector<SimulatedTruth> truth_;
};

/// A small compiler: parser, cache, a leak. With names that break careless writers.
SimulatedProgram simulated_compiler();

}  // namespace fallow::test
