#pragma once

#include "fallow/heap.h"

namespace fallow {

/// While one exists no full collection of the heap starts or continues by itself; minor collections
/// go on. Explicit calls (Heap::step, Heap::collect) still work, and so does the collection that an
/// allocation runs before it fails with OutOfMemory. This is the meaning of Python's gc.disable():
/// collect by steps in idle time instead.
///
///     fallow::MajorPause pause(heap);
///     for (;;) {
///       handle(wait_for_event());
///       heap.step(std::chrono::microseconds(200));   // while nobody waits
///     }
///
/// Nests; may begin and end on different threads. Must be destroyed before its heap. O(1).
class MajorPause {
 public:
  explicit MajorPause(Heap& heap) noexcept;
  ~MajorPause();
  MajorPause(const MajorPause&) = delete;
  MajorPause& operator=(const MajorPause&) = delete;

 private:
  Heap& heap_;
};

}  // namespace fallow
