// Collections for the sake of memory that only ledgers know.
#include "heap/heap_core.h"

namespace fallow::detail {

bool HeapCore::collect_for_ledger(Kind kind) {
  const MutatorState* const state = mutator_of_thread(this);
  if (state != nullptr && in_no_gc(*state)) return false;
  if (kind == Kind::kMinor) return collect(kind);
  // A minor collection of another thread would not do.
  collect_now(kind);
  return true;
}

}  // namespace fallow::detail
