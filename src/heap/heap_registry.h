#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace fallow::detail {

class HeapCore;

/// All heaps of the process, for the fork handlers, which are installed with the first heap.
/// Returns the number of the heap: they are numbered in the order of their creation.
std::uint64_t register_heap(HeapCore* core);
void unregister_heap(HeapCore* core) noexcept;

/// Calls use(heaps) while none begins or ends and the process does not fork. The calling thread is
/// absent from all heaps.
void with_heaps(const std::function<void(const std::vector<HeapCore*>&)>& use);

}  // namespace fallow::detail
