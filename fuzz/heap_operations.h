// The body of the heap's fuzz target: the bytes choose the options of a heap and then what happens
// in it, step by step. Also run on random bytes by tests/heap/fuzz_corpus_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tests/heap/model/model.h"

namespace fallow::test {

/// Returns what went wrong; empty if nothing did.
inline std::string run_heap_operations(std::span<const std::uint8_t> bytes) {
  Decisions decisions(bytes);
  ModelSettings settings;
  settings.options.nursery_bytes = kNurserySizes[decisions.below(std::size(kNurserySizes))];
  settings.options.growth_floor_bytes = 1 * kMiB;
  settings.options.growth_factor = decisions.one_in(2) ? 1.1 : 1.82;
  settings.options.poison = decisions.one_in(2);
  settings.options.verify = decisions.one_in(4);
  if (decisions.one_in(4)) settings.options.rotating_nurseries = 2 + decisions.below(4);
  if (decisions.one_in(4)) settings.options.zeal = 1 + decisions.below(30);
  if (decisions.one_in(8)) settings.options.hard_limit_bytes = 20 * kMiB;
  settings.steps = 3000;
  // What a thread does is not determined by the bytes.
  settings.helper_threads = false;
  return run_model(settings, decisions);
}

}  // namespace fallow::test
