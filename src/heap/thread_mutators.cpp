#include "heap/mutator_state.h"

namespace fallow::detail {

namespace {
// Initial-exec: one load relative to the thread pointer, also inside a shared library.
[[gnu::tls_model("initial-exec")]] constinit thread_local MutatorState* t_first = nullptr;
}  // namespace

MutatorState* first_mutator_of_thread() noexcept { return t_first; }

MutatorState* mutator_of_thread(const HeapCore* core) noexcept {
  MutatorState* state = t_first;
  while (state != nullptr && state->core != core) state = state->next_on_thread;
  return state;
}

void push_mutator_of_thread(MutatorState* state) noexcept {
  state->next_on_thread = t_first;
  t_first = state;
}

void remove_mutator_of_thread(MutatorState* state) noexcept {
  MutatorState** link = &t_first;
  while (*link != nullptr && *link != state) link = &(*link)->next_on_thread;
  if (*link == state) *link = state->next_on_thread;
}

}  // namespace fallow::detail
