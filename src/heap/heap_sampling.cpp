// The heap's part in sampling: starting, stopping, and where samples of young objects are noted.
#include "fallow/errors.h"
#include "heap/heap_core.h"

namespace fallow::detail {

namespace {

void check_interval(std::size_t bytes) {
  if (bytes == 0) throw UsageError("fallow: a sampling interval of 0 bytes");
}

}  // namespace

void HeapCore::recall_mutators() noexcept {
  for (MutatorState* const state : world_.mutators()) {
    MutatorAccess::limit(*state->mutator).store(0, std::memory_order_relaxed);
  }
}

void HeapCore::start_sampling(SampleSink& sink, const SamplingOptions& options) {
  check_interval(options.interval_bytes);
  bool started = false;
  with_world_stopped([&] {
    started = !sampling_.is_on();
    if (!started) return;
    sampling_.start(sink, options);
    recall_mutators();
  });
  if (!started) throw UsageError("fallow: the heap is being sampled already");
}

void HeapCore::set_sample_interval(std::size_t bytes) {
  check_interval(bytes);
  bool on = false;
  with_world_stopped([&] {
    on = sampling_.is_on();
    if (!on) return;
    sampling_.set_interval(bytes);
    recall_mutators();
  });
  if (!on) throw UsageError("fallow: the heap is not being sampled");
}

void HeapCore::stop_sampling() {
  with_world_stopped([&] {
    if (!sampling_.is_on()) return;
    const std::uint64_t gc = minor_count_.load(std::memory_order_relaxed);
    for_each_young_samples(
        [&](PushBuffer<SampledObject>& young) { sampling_.settle_at_end(young, gc); });
    sampling_.stop();
    recall_mutators();
  });
}

template <class Use>
void HeapCore::for_each_young_samples(Use&& use) noexcept {
  for (MutatorState* const state : world_.mutators()) use(state->samples.young);
  const std::scoped_lock lock(orphans_mutex_);
  use(orphan_samples_);
}

void HeapCore::settle_samples() noexcept {
  const std::uint64_t gc = minor_count_.load(std::memory_order_relaxed) + 1;
  for_each_young_samples([&](PushBuffer<SampledObject>& young) { sampling_.settle(young, gc); });
}

}  // namespace fallow::detail
