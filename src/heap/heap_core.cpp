#include "heap/heap_core.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "heap/heap_registry.h"
#include "heap/option_rows.h"
#include "platform/sanitizer.h"
#include "telemetry/log.h"

namespace fallow::detail {

namespace {

bool poisons(const HeapOptions& options) noexcept {
  return options.poison || kChecked || platform::address_sanitizer_active();
}

/// Objects above half a chunk would waste too much of its end.
std::size_t max_nursery_object_for(std::size_t nursery_bytes) noexcept {
  return std::min(kMaxSmallBytes, Nursery::chunk_bytes_for(nursery_bytes) / 2);
}

PauseSummary summarize(const telemetry::PauseHistogram& histogram) {
  PauseSummary summary;
  summary.count = histogram.count();
  summary.total_ns = histogram.total_ns();
  summary.p50_ns = histogram.percentile(0.5);
  summary.p99_ns = histogram.percentile(0.99);
  summary.p999_ns = histogram.percentile(0.999);
  summary.max_ns = histogram.max_ns();
  return summary;
}

}  // namespace

constinit std::atomic<std::size_t> g_heaps_alive{0};

HeapCore::HeapCore(const HeapOptions& options)
    : options_(complete_options(options)),
      space_(AddressSpace::instance()),
      pause_target_(options_.pause_target_microseconds * 1000, options_.nursery_bytes),
      nursery_(space_, this,
               {options_.nursery_bytes, pause_target_.young_bytes(),
                std::max<std::size_t>(options_.rotating_nurseries, 1), poisons(options_),
                options_.huge_pages}),
      old_(this, space_, {poisons(options_), options_.huge_pages}),
      large_(this, space_, options_.huge_pages),
      minor_(space_, old_, large_, nursery_.bytes()),
      full_(space_, old_, large_),
      growth_(options_.growth_factor, options_.growth_cap_bytes, options_.growth_floor_bytes),
      share_cap_(options_.limit_cpu_share),
      world_(options_.stop_warning_microseconds * 1000,
             [this](const MutatorState& state, std::uint64_t waited_ns) {
               report_stuck(state, waited_ns);
             }),
      max_nursery_object_(max_nursery_object_for(nursery_.bytes())),
      young_large_limit_(young_large_limit(nursery_.bytes())),
      orphans_mutex_(platform::LockRank::kOrphans, "orphans"),
      threshold_(growth_.threshold()),
      marking_pacer_(options_.step_budget_microseconds * 1000),
      sweeping_pacer_(options_.step_budget_microseconds * 1000) {
  number_ = register_heap(this);
  g_heaps_alive.fetch_add(1);
  announce_diagnostics(options_);
}

HeapCore::~HeapCore() {
  g_heaps_alive.fetch_sub(1);
  unregister_heap(this);
  if (options_.zeal != 0) {
    std::fprintf(stderr, "fallow: zeal forced %" PRIu64 " collections\n",
                 zeal_collections_.load(std::memory_order_relaxed));
  }
}

HeapUsage HeapCore::usage() const noexcept {
  HeapUsage figures;
  figures.young = nursery_.taken_bytes() + large_.young_bytes();
  figures.old = used_bytes();
  figures.next_full_at = threshold_.load(std::memory_order_relaxed);
  figures.cycle = full_.state();
  return figures;
}

HeapStatistics HeapCore::statistics() {
  HeapStatistics figures;
  figures.minor_collections = minor_count_.load(std::memory_order_relaxed);
  figures.full_collections = full_count_.load(std::memory_order_relaxed);
  figures.allocated = allocated_.load(std::memory_order_relaxed);
  figures.promoted = promoted_.load(std::memory_order_relaxed);
  figures.nursery = nursery_.bytes();
  figures.old_used = old_used_.load(std::memory_order_relaxed);
  figures.large_used = large_.used_bytes();
  figures.committed = committed_bytes();
  figures.next_full_at = threshold_.load(std::memory_order_relaxed);
  figures.mutators = world_.mutator_count();
  figures.minor_wall = summarize(minor_pauses_.wall);
  figures.minor_cpu = summarize(minor_pauses_.cpu);
  figures.full_wall = summarize(full_pauses_.wall);
  figures.full_cpu = summarize(full_pauses_.cpu);
  figures.step_wall = summarize(step_pauses_.wall);
  figures.step_cpu = summarize(step_pauses_.cpu);
  figures.pause_wall = summarize(pauses_.wall);
  figures.pause_cpu = summarize(pauses_.cpu);
  figures.cycle = full_.state();
  figures.life_entry_bytes = lives_.entry_bytes();
  const ObjectLives::Counts& lives = lives_.counts();
  figures.weak_cleared = lives.weak_cleared.load(std::memory_order_relaxed);
  figures.ephemerons_cleared = lives.ephemerons_cleared.load(std::memory_order_relaxed);
  figures.finalizers = lives.finalizers.load(std::memory_order_relaxed);
  figures.destructors = lives.destructors.load(std::memory_order_relaxed);
  figures.marker_bytes = marker_bytes_.load(std::memory_order_relaxed);
  figures.marker_cpu_ns = marker_cpu_ns_.load(std::memory_order_relaxed);
  figures.no_gc_scopes = gate_.scopes();
  figures.no_gc_overruns = gate_.overruns();
  figures.major_pauses = major_pauses_.load(std::memory_order_relaxed);
  figures.stop_wall = summarize(stop_pauses_);
  return figures;
}

void HeapCore::report_stuck(const MutatorState& state, std::uint64_t waited_ns) {
  telemetry::LogSection log("gc-stuck-mutator");
  log.line("mutator '%s', thread %" PRIu64 ", does not poll: waiting for %" PRIu64 " us",
           state.name.c_str(), state.thread_id, waited_ns / 1000);
  listeners_.tell({state.name, state.thread_id, waited_ns});
}

}  // namespace fallow::detail
