#include "heap/heap_watchers.h"

#include <mutex>
#include <vector>

#include "fallow/heap_watcher.h"
#include "heap/thread_absence.h"
#include "platform/ranked_mutex.h"

namespace fallow {

namespace {

struct Watchers {
  platform::RankedMutex mutex{platform::LockRank::kHeapWatchers, "heap watchers"};
  std::vector<HeapWatcher*> watchers;
  std::vector<Heap*> heaps;  ///< in the order of their creation
};

Watchers& watchers() {
  // Never destroyed: heaps may end as late as they like.
  static Watchers* const instance = new Watchers;
  return *instance;
}

}  // namespace

void watch_heaps(HeapWatcher& watcher) {
  // Whoever holds the lock may be waiting for this thread's mutators to stop.
  const detail::ThreadAbsence absence;
  const std::scoped_lock lock(watchers().mutex);
  watchers().watchers.push_back(&watcher);
  for (Heap* const heap : watchers().heaps) watcher.on_created(*heap);
}

void unwatch_heaps(HeapWatcher& watcher) noexcept {
  const detail::ThreadAbsence absence;
  const std::scoped_lock lock(watchers().mutex);
  std::erase(watchers().watchers, &watcher);
}

namespace detail {

void heap_created(Heap& heap) {
  const ThreadAbsence absence;
  const std::scoped_lock lock(watchers().mutex);
  watchers().heaps.push_back(&heap);
  for (HeapWatcher* const watcher : watchers().watchers) watcher->on_created(heap);
}

void heap_destroying(Heap& heap) noexcept {
  const ThreadAbsence absence;
  const std::scoped_lock lock(watchers().mutex);
  for (HeapWatcher* const watcher : watchers().watchers) watcher->on_destroying(heap);
  std::erase(watchers().heaps, &heap);
}

void lock_heap_watchers() { watchers().mutex.native().lock(); }
void unlock_heap_watchers() noexcept { watchers().mutex.native().unlock(); }

}  // namespace detail
}  // namespace fallow
