#pragma once

#include <cstdint>

#include "fallow/heap.h"

namespace fallow::bench {

/// Collects in idle time, as an event loop would under a MajorPause.
class IdleSteps {
 public:
  explicit IdleSteps(Heap& heap) : heap_(heap) {}

  /// A minor collection if that takes a small part of the time until a moment (of the monotonic
  /// clock); then until shortly before it a full one, if one is under way or due.
  void work_before(std::uint64_t moment_ns);

 private:
  Heap& heap_;
};

}  // namespace fallow::bench
