#pragma once

#include <cstddef>
#include <cstdint>

#include "fallow/profile_frame.h"
#include "profile/record/stack_trace.h"

namespace fallow::profile {

/// The part of a stack that may be read: addresses from `low` up to, and without, `high`.
struct ReadableStack {
  std::uintptr_t low;
  std::uintptr_t high;
};

/// Where a deep stack of the thread ended last time, so that its middle need not be walked again.
struct RootAnchor {
  std::uintptr_t frame = 0;
};

/// Walks by frame pointers. `frame` is the frame address of a function: the first entry is its
/// caller's. Embedded frames are merged in by their addresses. Reads nothing outside `stack`.
/// Signal-safe; `anchor` may be null. O(depth), and O(kWalked + roots) with an anchor that holds.
void walk_frames(std::uintptr_t frame, ReadableStack stack, const Frame* embedded,
                 RootAnchor* anchor, StackTrace& trace) noexcept;

/// Only the embedder's frames.
void walk_embedded(const Frame* embedded, StackTrace& trace) noexcept;

}  // namespace fallow::profile
