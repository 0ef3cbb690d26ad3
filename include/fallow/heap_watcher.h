#pragma once

namespace fallow {

class Heap;

/// Told about the heaps of the process, for tools that attach to all of them.
class HeapWatcher {
 public:
  virtual ~HeapWatcher() = default;
  /// At the end of the heap's constructor, on its thread.
  virtual void on_created(Heap& heap) noexcept = 0;
  /// At the beginning of its destructor, on its thread.
  virtual void on_destroying(Heap& heap) noexcept = 0;
};

/// From now on the watcher is told; of the heaps that exist at once, on the calling thread. Calls
/// come one at a time: a watcher must create and destroy no heap, watch or unwatch inside them, but
/// may use the heap's listeners and sampling. Any thread; it counts as parked in all heaps while it
/// waits.
void watch_heaps(HeapWatcher& watcher);
/// After the return the watcher is not called again.
void unwatch_heaps(HeapWatcher& watcher) noexcept;

}  // namespace fallow
