#pragma once

#include "fallow/heap.h"

namespace fallow::detail {

class HeapCore;

/// Checks every invariant of a heap from the outside: it has its own traversal, its own knowledge
/// of layouts and its own sets, and shares no tracing code with the collector. All mutators must be
/// stopped. Memory: a few words for each reachable object.
///
/// Checked: each reachable reference leads to the start of a well-formed object of this heap, in a
/// cell in use, of the live colour outside marking; each reference from an old object to a young
/// one is in a remembered set or on a dirty card; the books say at least what is reachable.
VerifyReport verify_heap(HeapCore& core);

}  // namespace fallow::detail
