#pragma once

namespace fallow::detail {

class HeapCore;

/// All heaps of the process, for the fork handlers, which are installed with the first heap.
void register_heap(HeapCore* core);
void unregister_heap(HeapCore* core) noexcept;

}  // namespace fallow::detail
