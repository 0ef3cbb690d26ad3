#include "heap/heap_registry.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "heap/heap_core.h"
#include "platform/fork_handlers.h"

namespace fallow::detail {

namespace {

struct Registry {
  platform::RankedMutex mutex{platform::LockRank::kProcessRegistry, "heap registry"};
  std::vector<HeapCore*> heaps;
};

Registry& registry() {
  // Never destroyed: fork handlers may run at any time until the process ends.
  static Registry* const instance = new Registry;
  return *instance;
}

// The locks of several heaps have equal ranks, so they are taken past the rank check.
void prepare() {
  registry().mutex.native().lock();
  for (HeapCore* const core : registry().heaps) core->prepare_fork();
  AddressSpace::instance().mutex().native().lock();
}

void parent() {
  AddressSpace::instance().mutex().native().unlock();
  for (HeapCore* const core : registry().heaps) core->parent_after_fork();
  registry().mutex.native().unlock();
}

void child() {
  AddressSpace::instance().mutex().native().unlock();
  for (HeapCore* const core : registry().heaps) core->child_after_fork();
  registry().mutex.native().unlock();
}

}  // namespace

void register_heap(HeapCore* core) {
  static const bool installed = [] {
    platform::on_fork(prepare, parent, child);
    return true;
  }();
  static_cast<void>(installed);
  const std::scoped_lock lock(registry().mutex);
  registry().heaps.push_back(core);
}

void unregister_heap(HeapCore* core) noexcept {
  const std::scoped_lock lock(registry().mutex);
  std::erase(registry().heaps, core);
}

void HeapCore::prepare_fork() {
  // Stopped, so that no other thread is between a store and its barrier when it vanishes.
  forking_ = stop_world();
  world_.prepare_fork();
  nursery_.mutex().native().lock();
  large_.mutex().native().lock();
  globals_.mutex().native().lock();
  orphans_mutex_.native().lock();
  listeners_mutex_.native().lock();
}

void HeapCore::parent_after_fork() noexcept {
  listeners_mutex_.native().unlock();
  orphans_mutex_.native().unlock();
  globals_.mutex().native().unlock();
  large_.mutex().native().unlock();
  nursery_.mutex().native().unlock();
  world_.parent_after_fork();
  resume_world(forking_);
}

void HeapCore::child_after_fork() noexcept {
  listeners_mutex_.native().unlock();
  orphans_mutex_.native().unlock();
  globals_.mutex().native().unlock();
  large_.mutex().native().unlock();
  nursery_.mutex().native().unlock();
  // Threads that are gone may have recorded slots that still matter.
  const MutatorState* const self = first_mutator_of_thread();
  world_.child_after_fork(self, [this](MutatorState* state) {
    orphans_.absorb(state->remembered);
    for (Object* const object : state->overwritten) {
      if (!orphan_overwritten_.push(object)) full_.shade_without_memory(object);
    }
  });
  resume_world(forking_);
}

}  // namespace fallow::detail
