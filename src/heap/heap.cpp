#include "fallow/heap.h"

#include "fallow/global.h"
#include "heap/heap_core.h"
#include "heap/verifier.h"
#include "platform/fatal.h"

namespace fallow {

Heap::Heap(const HeapOptions& options) : core_(std::make_unique<detail::HeapCore>(options)) {}

Heap::~Heap() {
  const std::size_t mutators = core_->world().mutator_count();
  const std::size_t globals = core_->globals().in_use();
  if (mutators == 0 && globals == 0) return;
  if constexpr (detail::kChecked) {
    platform::fatal("a heap is destroyed while %zu mutators and %zu Globals exist", mutators,
                    globals);
  }
  // A thread may still be using it: leave it in place for the rest of the process.
  static_cast<void>(core_.release());
}

void Heap::collect() { core_->collect_now(detail::HeapCore::Kind::kFull); }

void Heap::collect_minor() { core_->collect_now(detail::HeapCore::Kind::kMinor); }

HeapStatistics Heap::statistics() const { return core_->statistics(); }

const HeapOptions& Heap::options() const noexcept { return core_->options(); }

void Heap::add_listener(EventListener& listener) { core_->listeners().add(listener); }

void Heap::remove_listener(EventListener& listener) { core_->listeners().remove(listener); }

VerifyReport Heap::verify() {
  VerifyReport report;
  core_->with_world_stopped([&] { report = detail::verify_heap(*core_); });
  return report;
}

namespace detail {

Slot* acquire_global_cell(Heap& heap) { return HeapAccess::core(heap).globals().acquire(); }

void release_global_cell(Heap& heap, Slot* cell) noexcept {
  HeapAccess::core(heap).globals().release(cell);
}

}  // namespace detail
}  // namespace fallow
