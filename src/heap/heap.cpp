#include "fallow/heap.h"

#include <algorithm>

#include "fallow/global.h"
#include "fallow/major_pause.h"
#include "heap/heap_core.h"
#include "heap/heap_watchers.h"
#include "heap/verifier.h"
#include "platform/fatal.h"

namespace fallow {

Heap::Heap(const HeapOptions& options) : core_(std::make_unique<detail::HeapCore>(options)) {
  detail::heap_created(*this);
}

Heap::~Heap() {
  detail::heap_destroying(*this);
  core_->stop_sampling();
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

StepResult Heap::step(std::chrono::nanoseconds cpu_budget) {
  const auto ns = std::max<std::int64_t>(cpu_budget.count(), 0);
  return core_->step(static_cast<std::uint64_t>(ns), detail::StepBudget::kUnlimited);
}

StepResult Heap::step_until(std::chrono::steady_clock::time_point deadline) {
  using std::chrono::nanoseconds;
  const auto ns = std::chrono::duration_cast<nanoseconds>(deadline.time_since_epoch()).count();
  return core_->step(detail::StepBudget::kUnlimited,
                     static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
}

void Heap::trim() { core_->collect_now(detail::HeapCore::Kind::kTrim); }

MajorPause::MajorPause(Heap& heap) noexcept : heap_(heap) {
  detail::HeapAccess::core(heap_).pause_major(1);
}

MajorPause::~MajorPause() { detail::HeapAccess::core(heap_).pause_major(-1); }

HeapUsage Heap::usage() const noexcept { return core_->usage(); }

HeapStatistics Heap::statistics() const { return core_->statistics(); }

const HeapOptions& Heap::options() const noexcept { return core_->options(); }

void Heap::add_listener(EventListener& listener) { core_->listeners().add(listener); }

void Heap::remove_listener(EventListener& listener) { core_->listeners().remove(listener); }

void Heap::start_sampling(SampleSink& sink, const SamplingOptions& options) {
  core_->start_sampling(sink, options);
}

void Heap::set_sample_interval(std::size_t bytes) { core_->set_sample_interval(bytes); }

void Heap::stop_sampling() { core_->stop_sampling(); }

VerifyReport Heap::verify() {
  VerifyReport report;
  core_->with_world_stopped([&] { report = detail::verify_heap(*core_); });
  return report;
}

namespace detail {

HeapCore& core_of(Heap& heap) noexcept { return HeapAccess::core(heap); }

Slot* acquire_global_cell(HeapCore& core) { return core.globals().acquire(); }

void release_global_cell(HeapCore& core, Slot* cell) noexcept { core.globals().release(cell); }

}  // namespace detail
}  // namespace fallow
