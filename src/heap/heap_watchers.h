#pragma once

namespace fallow {
class Heap;
}

namespace fallow::detail {

void heap_created(Heap& heap);
void heap_destroying(Heap& heap) noexcept;

// Fork handlers: the heaps' own take these first and last.
void lock_heap_watchers();
void unlock_heap_watchers() noexcept;

}  // namespace fallow::detail
