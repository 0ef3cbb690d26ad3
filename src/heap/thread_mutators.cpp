#include "heap/mutator_state.h"

namespace fallow::detail {

constinit thread_local MutatorState* t_first_mutator = nullptr;

MutatorState* mutator_of_thread(const HeapCore* core) noexcept {
  MutatorState* state = t_first_mutator;
  while (state != nullptr && state->core != core) state = state->next_on_thread;
  return state;
}

void push_mutator_of_thread(MutatorState* state) noexcept {
  state->next_on_thread = t_first_mutator;
  t_first_mutator = state;
}

void remove_mutator_of_thread(MutatorState* state) noexcept {
  MutatorState** link = &t_first_mutator;
  while (*link != nullptr && *link != state) link = &(*link)->next_on_thread;
  if (*link == state) *link = state->next_on_thread;
}

}  // namespace fallow::detail
