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

/// By libunwind (platform/fast_unwind.h), from the caller of the function with this frame address.
/// Embedded frames come first: nothing tells where they lie. Not signal-safe.
void walk_fast(std::uintptr_t frame, const Frame* embedded, StackTrace& trace) noexcept;

/// Where a function returns to, and its caller's frame address.
struct ReturnPoint {
  std::uintptr_t frame;
  std::uintptr_t instruction;
};
ReturnPoint return_point(std::uintptr_t frame) noexcept;

/// Copies words of the stack as they are; returns the end. `bytes` is a multiple of 8.
std::uint8_t* copy_stack(std::uint8_t* at, std::uintptr_t start, std::size_t bytes) noexcept;

/// Only the embedder's frames.
void walk_embedded(const Frame* embedded, StackTrace& trace) noexcept;

}  // namespace fallow::profile
