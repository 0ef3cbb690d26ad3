#pragma once

#include <cstdint>

#include "fallow/heap.h"

namespace fallow::bench {

/// Collects in idle time, as an event loop would under a MajorPause.
class IdleSteps {
 public:
  explicit IdleSteps(Heap& heap) : heap_(heap) {}

  /// Works on a full collection until shortly before a moment (of the monotonic clock), if one is
  /// under way or due and there is time for it.
  void work_before(std::uint64_t moment_ns);

 private:
  [[nodiscard]] bool is_due() const;

  Heap& heap_;
  bool under_way_ = false;
};

}  // namespace fallow::bench
