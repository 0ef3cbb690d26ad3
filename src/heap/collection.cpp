#include "heap/heap_core.h"
#include "heap/reclaimer.h"
#include "heap/stopwatch.h"
#include "heap/verifier.h"
#include "platform/clock.h"
#include "platform/fatal.h"
#include "telemetry/log.h"

namespace fallow::detail {

namespace {

/// After a minor collection below this the next one does without the CPU clock, whose two system
/// calls would take longer than the work.
constexpr std::uint64_t kWorthTheCpuClockNs = 20'000;

}  // namespace

void HeapCore::stop_world() noexcept {
  std::uint64_t waited = 0;
  while (!world_.stop(world_.resume_count(), &waited)) {
  }
}

void HeapCore::stop_for_collection() noexcept {
  for (;;) {
    gate_.wait();
    stop_world();
    if (!gate_.is_closed()) return;
    // A scope was entered between the two.
    world_.resume();
  }
}

bool HeapCore::collect(Kind kind) {
  break_own_no_gc();
  // While this thread runs here, nobody else can collect.
  const std::uint32_t since = world_.resume_count();
  {
    const ThreadAbsence absence;
    gate_.wait();
    std::uint64_t waited = 0;
    if (!world_.stop(since, &waited)) return false;
    if (gate_.is_closed()) {
      world_.resume();
      return false;
    }
    stop_pauses_.record(waited);
    if constexpr (kChecked) {
      const MutatorState* const self = mutator_of_thread(this);
      if (self != nullptr) collection_site_ = self->site;
    }
    collect_stopped(kind);
    world_.resume();
    if (kind >= Kind::kTrim) Reclaimer::hand_back_everything(*this);
  }
  tell();
  return true;
}

void HeapCore::tell() {
  listeners_.deliver();
  lives_.wake_listeners();
}

void HeapCore::collect_now(Kind kind) {
  refuse_in_no_gc("a collection");
  // A collection that was under way before the call does not count.
  while (!collect(kind)) {
  }
}

void HeapCore::collect_stopped(Kind kind) noexcept {
  if (options_.verify) verify_or_die("before a collection");
  const Stopwatch pause(false);
  const MinorEvent minor = minor_collection();
  last_work_bytes_.store(minor.surviving_bytes, std::memory_order_relaxed);
  const std::uint64_t full_ns =
      kind == Kind::kMinor ? continue_cycle(minor.cpu_ns) : full_collection();
  offer_free_memory();
  if (kind == Kind::kLastResort) {
    share_cap_.collected(minor.cpu_ns + full_ns, platform::monotonic_ns());
  }
  pauses_.wall.record(pause.wall_ns());
  pauses_.cpu.record(minor.cpu_ns + full_ns);
  if (options_.verify) verify_or_die("after a collection");
}

MinorEvent HeapCore::minor_collection() {
  const Stopwatch watch(last_minor_ns_ >= kWorthTheCpuClockNs);
  telemetry::LogSection log("gc-minor");
  MinorEvent event{};
  event.nursery_bytes = nursery_used_bytes();
  const bool has_lives = lives_.gather_young();
  minor_.begin(epoch(), lives_.new_ephemerons());
  epoch_.fetch_add(1, std::memory_order_relaxed);
  {
    const telemetry::LogSection roots("gc-minor-walkroots");
    visit_roots();
  }
  minor_.complete();
  if (has_lives || !minor_.ephemerons().empty()) lives_.settle_young(minor_);
  if (sampling_.is_on()) {
    // What finalizers keep has survived.
    minor_.complete();
    settle_samples();
  }
  const MinorCollector::Result result = minor_.finish();
  // Reading the clock once more would cost more than a short collection does.
  if (pause_target_.is_set()) pause_target_.learn(event.nursery_bytes, watch.cpu_ns());
  reset_mutators();
  old_used_.fetch_add(result.copied_bytes, std::memory_order_relaxed);
  promoted_while_marking_ += result.copied_bytes;
  large_promoted_while_marking_ += result.large_bytes;
  event.surviving_bytes = result.copied_bytes + result.large_bytes;
  promoted_.fetch_add(event.surviving_bytes, std::memory_order_relaxed);
  event.remembered_slots = result.remembered_slots;
  event.used_bytes = used_bytes();
  event.number = minor_count_.fetch_add(1, std::memory_order_relaxed) + 1;
  event.wall_ns = watch.wall_ns();
  event.cpu_ns = watch.cpu_ns();
  last_minor_ns_ = event.wall_ns;
  minor_pauses_.wall.record(event.wall_ns);
  minor_pauses_.cpu.record(event.cpu_ns);
  listeners_.note(event);
  log.line("minor collect, total memory used: %zu", event.used_bytes);
  log.line("number of pinned objects: 0");
  log.line("total size of surviving objects: %zu", event.surviving_bytes);
  log.line("time taken: %f", seconds(event.wall_ns));
  return event;
}

std::size_t HeapCore::nursery_used_bytes() const noexcept {
  std::size_t bytes = nursery_.taken_bytes();
  for (const MutatorState* const state : world_.mutators()) {
    bytes -= state->chunk_end - MutatorAccess::free(*state->mutator);
  }
  return bytes;
}

void HeapCore::visit_roots() {
  const RootVisitor visitor(
      [](void* minor, Object** slot) { static_cast<MinorCollector*>(minor)->visit(slot); },
      &minor_);
  bool everything = false;
  for (MutatorState* const state : world_.mutators()) {
    minor_.visit_slots(state->slots, MutatorAccess::slot_top(*state->mutator));
    for (RootProvider* const provider : state->providers) provider->visit_roots(visitor);
    everything = everything || state->remembered.everything();
  }
  {
    // Recorded slots may be those of Globals, which a thread without a mutator may end meanwhile.
    const std::scoped_lock lock(globals_.mutex());
    for (MutatorState* const state : world_.mutators()) minor_.visit_remembered(state->remembered);
    with_orphans([&](RememberedSet& set, SnapshotLog&) {
      everything = everything || set.everything();
      minor_.visit_remembered(set);
      set.clear();
    });
  }
  if (!everything) return;
  // Dead objects that are not swept yet may hold anything; get rid of them first.
  finish_sweeping();
  globals_.for_each([this](Object** slot) { minor_.visit(slot); });
  minor_.visit_all_old_objects();
}

void HeapCore::reset_mutators() noexcept {
  for (MutatorState* const state : world_.mutators()) {
    state->remembered.clear();
    state->chunk_end = kEmptyRange;
    state->chunks_to_take = 1;
    MutatorAccess::free(*state->mutator) = kEmptyRange;
    state->samples.next = MutatorSamples::kNone;
    MutatorAccess::limit(*state->mutator).store(kEmptyRange, std::memory_order_relaxed);
    for (const CursorPiece& piece : state->cursor_pieces) nursery_.retain({piece.begin, piece.end});
  }
  // Each mutator needs a chunk of its own, whatever the target.
  const std::size_t least = world_.mutators().size() * nursery_.chunk_bytes();
  nursery_.reset(std::max(pause_target_.young_bytes(), least));
}

void HeapCore::verify_or_die(const char* when) {
  const VerifyReport report = verify_heap(*this);
  if (report.complaints.empty()) return;
  platform::fatal("the verifier found %zu faults %s; the first: %s", report.complaints.size(), when,
                  report.complaints.front().c_str());
}

}  // namespace fallow::detail
