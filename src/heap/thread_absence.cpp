#include "heap/thread_absence.h"

#include "heap/heap_core.h"

namespace fallow::detail {

ThreadAbsence::ThreadAbsence(MutatorState* newcomer) noexcept
    : newcomer_(newcomer), returns_(newcomer != nullptr) {
  for (MutatorState* state = first_mutator_of_thread(); state != nullptr;
       state = state->next_on_thread) {
    if (state->status != MutatorState::Status::kRunning) continue;
    state->core->world().leave(state, MutatorState::Status::kStopped);
    returns_ = true;
  }
}

ThreadAbsence::~ThreadAbsence() {
  if (!returns_) return;
  while (MutatorState* const state = next_to_enter()) {
    HeapCore* const core = state->core;
    core->world().enter(first_mutator_of_thread(), [this, core](const MutatorState& each) {
      return each.core == core && waits(each);
    });
  }
}

bool ThreadAbsence::waits(const MutatorState& state) const noexcept {
  using Status = MutatorState::Status;
  return state.status == Status::kStopped ||
         (&state == newcomer_ && state.status != Status::kRunning);
}

MutatorState* ThreadAbsence::next_to_enter() const noexcept {
  MutatorState* oldest = nullptr;
  for (MutatorState* state = first_mutator_of_thread(); state != nullptr;
       state = state->next_on_thread) {
    if (!waits(*state)) continue;
    if (oldest == nullptr || state->core->number() < oldest->core->number()) oldest = state;
  }
  return oldest;
}

}  // namespace fallow::detail
