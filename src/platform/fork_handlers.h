// Work to do around fork(), in the order of the lock ranks.
//
// Handlers usually acquire locks before the fork and release them on both sides after it. With
// plain pthread_atfork the order would be that of registration, backwards, which says nothing about
// the locking order; here `prepare` handlers run from the lowest rank to the highest, `parent` and
// `child` handlers from the highest to the lowest. Equal ranks follow pthread_atfork: `prepare` of
// the last registered runs first.
//
// Thread-safety: may be called from any thread, at any time except inside a handler. A fork that is
// already under way does not see a new registration. Nothing is ever unregistered, so each module
// registers once per process.
// Handlers must not throw. In the child only the forking thread exists.
#pragma once

#include "platform/ranked_mutex.h"

namespace fallow::platform {

// Any of the three may be nullptr. `rank` is the lowest lock rank that `prepare` acquires.
void on_fork(void (*prepare)(), void (*parent)(), void (*child)(),
             LockRank rank = LockRank::kProcessRegistry);

}  // namespace fallow::platform
