#include "heap/heap_registry.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "heap/heap_core.h"
#include "heap/heap_watchers.h"
#include "heap/reclaimer.h"
#include "platform/fork_handlers.h"

namespace fallow::detail {

namespace {

struct Registry {
  platform::RankedMutex mutex{platform::LockRank::kProcessRegistry, "heap registry"};
  std::vector<HeapCore*> heaps;  ///< in the order of their creation
  std::uint64_t created = 0;
};

/// Of a thread that forks, while it does.
thread_local std::optional<ThreadAbsence> t_absence;

Registry& registry() {
  // Never destroyed: fork handlers may run at any time until the process ends.
  static Registry* const instance = new Registry;
  return *instance;
}

// The locks of several heaps have equal ranks, so they are taken past the rank check.
void prepare() {
  t_absence.emplace();
  lock_heap_watchers();
  registry().mutex.native().lock();
  // Stopped, so that no other thread is between a store and its barrier when it vanishes. First all
  // worlds, then all other locks: a mutator may need one of them to come to its stop.
  for (HeapCore* const core : registry().heaps) core->stop_world();
  for (HeapCore* const core : registry().heaps) core->prepare_fork();
  AddressSpace::instance().mutex().native().lock();
}

void end_fork(void (HeapCore::*after_fork)() noexcept) {
  AddressSpace::instance().mutex().native().unlock();
  for (HeapCore* const core : registry().heaps) (core->*after_fork)();
  for (HeapCore* const core : registry().heaps) core->world().resume();
  registry().mutex.native().unlock();
  unlock_heap_watchers();
  t_absence.reset();
}

void parent() { end_fork(&HeapCore::parent_after_fork); }
void child() {
  Reclaimer::child_after_fork();
  end_fork(&HeapCore::child_after_fork);
}

}  // namespace

std::uint64_t register_heap(HeapCore* core) {
  static const bool installed = [] {
    platform::on_fork(prepare, parent, child);
    return true;
  }();
  static_cast<void>(installed);
  // A fork holds the mutex while it waits for mutators.
  const ThreadAbsence absence;
  const std::scoped_lock lock(registry().mutex);
  registry().heaps.push_back(core);
  return registry().created++;
}

void unregister_heap(HeapCore* core) noexcept {
  const ThreadAbsence absence;
  const std::scoped_lock lock(registry().mutex);
  std::erase(registry().heaps, core);
}

void with_heaps(const std::function<void(const std::vector<HeapCore*>&)>& use) {
  const std::scoped_lock lock(registry().mutex);
  use(registry().heaps);
}

void HeapCore::prepare_fork() {
  gate_.mutex().native().lock();
  world_.prepare_fork();
  nursery_.mutex().native().lock();
  large_.mutex().native().lock();
  globals_.mutex().native().lock();
  orphans_mutex_.native().lock();
  lives_.mutex().native().lock();
  listeners_.prepare_fork();
}

void HeapCore::unlock_after_fork() noexcept {
  lives_.mutex().native().unlock();
  orphans_mutex_.native().unlock();
  globals_.mutex().native().unlock();
  large_.mutex().native().unlock();
  nursery_.mutex().native().unlock();
}

void HeapCore::parent_after_fork() noexcept {
  listeners_.parent_after_fork();
  unlock_after_fork();
  world_.parent_after_fork();
  gate_.mutex().native().unlock();
}

void HeapCore::child_after_fork() noexcept {
  listeners_.child_after_fork();
  marker_.child_after_fork();
  unlock_after_fork();
  const MutatorState* const own = mutator_of_thread(this);
  gate_.child_after_fork(own != nullptr && in_no_gc(*own));
  gate_.mutex().native().unlock();
  // Threads that are gone may have recorded slots that still matter.
  world_.child_after_fork(first_mutator_of_thread(),
                          [this](MutatorState* state) { hand_over(*state); });
}

}  // namespace fallow::detail
