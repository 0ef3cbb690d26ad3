#pragma once

#include <cstdint>

namespace fallow::detail {

class HeapCore;

/// All heaps of the process, for the fork handlers, which are installed with the first heap.
/// Returns the number of the heap: they are numbered in the order of their creation.
std::uint64_t register_heap(HeapCore* core);
void unregister_heap(HeapCore* core) noexcept;

}  // namespace fallow::detail
