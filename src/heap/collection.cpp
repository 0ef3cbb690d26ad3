#include <limits>

#include "heap/heap_core.h"
#include "heap/verifier.h"
#include "platform/clock.h"
#include "platform/fatal.h"
#include "telemetry/log.h"

namespace fallow::detail {

namespace {

/// References that are scanned between two looks at the world. Nothing else happens in between yet,
/// but no phase may rely on that.
constexpr std::size_t kMarkQuantum = 4096;
constexpr std::size_t kSweepQuantum = 64;

/// After a minor collection below this the next one does without the CPU clock, whose two system
/// calls would take longer than the work.
constexpr std::uint64_t kWorthTheCpuClockNs = 20'000;

/// Wall and CPU time of a stretch of work on this thread.
class Stopwatch {
 public:
  explicit Stopwatch(bool with_cpu_clock = true) noexcept
      : with_cpu_clock_(with_cpu_clock),
        cpu_(with_cpu_clock ? platform::thread_cpu_ns() : 0),
        wall_(platform::monotonic_ns()) {}
  [[nodiscard]] std::uint64_t wall_ns() const noexcept { return platform::monotonic_ns() - wall_; }
  /// Without the CPU clock the wall time, which is not less.
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept {
    return with_cpu_clock_ ? platform::thread_cpu_ns() - cpu_ : wall_ns();
  }

 private:
  bool with_cpu_clock_;
  // In this order: the CPU clock is a system call, which is not part of the work.
  std::uint64_t cpu_;
  std::uint64_t wall_;
};

double seconds(std::uint64_t ns) noexcept { return static_cast<double>(ns) * 1e-9; }

}  // namespace

void HeapCore::stop_world() {
  std::uint64_t waited = 0;
  while (!world_.stop(world_.resume_count(), &waited)) {
  }
}

bool HeapCore::collect(Kind kind) {
  // While this thread runs here, nobody else can collect.
  const std::uint32_t since = world_.resume_count();
  {
    const ThreadAbsence absence;
    std::uint64_t waited = 0;
    if (!world_.stop(since, &waited)) return false;
    stop_pauses_.record(waited);
    if constexpr (kChecked) {
      const MutatorState* const self = mutator_of_thread(this);
      if (self != nullptr) collection_site_ = self->site;
    }
    collect_stopped(kind);
    world_.resume();
  }
  listeners_.deliver();
  return true;
}

void HeapCore::collect_now(Kind kind) {
  // A collection that was under way before the call does not count.
  while (!collect(kind)) {
  }
}

void HeapCore::collect_stopped(Kind kind) noexcept {
  if (options_.verify) verify_or_die("before a collection");
  CollectionEvents events{};
  events.minor = minor_collection();
  last_work_bytes_.store(events.minor.surviving_bytes, std::memory_order_relaxed);
  if (kind != Kind::kMinor || used_bytes() >= growth_.threshold()) {
    events.has_full = true;
    events.full = full_collection(kind);
    last_work_bytes_.fetch_add(events.full.used_bytes_after, std::memory_order_relaxed);
  }
  listeners_.note(events);
  if (options_.verify) verify_or_die("after a collection");
}

MinorEvent HeapCore::minor_collection() {
  const Stopwatch watch(last_minor_ns_ >= kWorthTheCpuClockNs);
  telemetry::LogSection log("gc-minor");
  MinorEvent event{};
  event.nursery_bytes = nursery_used_bytes();
  epoch_.fetch_add(1, std::memory_order_relaxed);
  {
    const telemetry::LogSection roots("gc-minor-walkroots");
    visit_roots();
  }
  const MinorCollector::Result result = minor_.finish();
  reset_mutators();
  old_used_.fetch_add(result.copied_bytes, std::memory_order_relaxed);
  promoted_while_marking_ += result.copied_bytes;
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
    with_orphans([&](RememberedSet& set, PushBuffer<Object*>&) {
      everything = everything || set.everything();
      minor_.visit_remembered(set);
      set.clear();
    });
  }
  if (!everything) return;
  // Dead objects that are not swept yet may hold anything; get rid of them first.
  while (full_.sweep_some(std::numeric_limits<std::size_t>::max())) {
  }
  globals_.for_each([this](Object** slot) { minor_.visit(slot); });
  minor_.visit_all_old_objects();
}

void HeapCore::reset_mutators() noexcept {
  for (MutatorState* const state : world_.mutators()) {
    state->remembered.clear();
    state->chunk_end = kEmptyRange;
    state->chunks_to_take = 1;
    MutatorAccess::free(*state->mutator) = kEmptyRange;
    MutatorAccess::limit(*state->mutator).store(kEmptyRange, std::memory_order_relaxed);
    for (const Nursery::Range& piece : state->cursor_pieces) nursery_.retain(piece);
  }
  nursery_.reset();
}

FullEvent HeapCore::full_collection(Kind kind) {
  const Stopwatch watch;
  FullEvent event{};
  event.used_bytes_before = used_bytes();
  if (full_.state() == FullCycle::State::kMarking) mark_to_the_end();
  {
    const Stopwatch step;
    telemetry::LogSection log("gc-collect-step");
    log.line("starting gc state:  SCANNING");
    begin_marking();
    log.line("stopping, now in gc state:  MARKING");
    log.line("time taken:  %f", seconds(step.wall_ns()));
  }
  {
    const Stopwatch step;
    telemetry::LogSection log("gc-collect-step");
    log.line("starting gc state:  MARKING");
    mark_to_the_end();
    log.line("number of objects to mark %zu plus 0", full_.pending());
    log.line("stopping, now in gc state:  SWEEPING");
    log.line("time taken:  %f", seconds(step.wall_ns()));
  }
  const Stopwatch step;
  telemetry::LogSection log("gc-collect-step");
  log.line("starting gc state:  SWEEPING");
  const std::size_t large_before = large_.used_bytes();
  const std::size_t chunks_before = old_.committed_bytes() / kChunkBytes;
  // Large objects are few: they are freed here, and the threshold knows what is left.
  while (!large_.is_swept()) large_.sweep_some(kSweepQuantum, old_.live_color());
  if (kind != Kind::kMinor) {
    while (full_.sweep_some(kSweepQuantum)) {
    }
    old_.give_back(kind == Kind::kLastResort ? 0 : nursery_.bytes());
    space_.decommit_free_pages();
  }
  growth_.collected(used_bytes());
  threshold_.store(growth_.threshold(), std::memory_order_relaxed);
  event.number = full_count_.fetch_add(1, std::memory_order_relaxed) + 1;
  event.used_bytes_after = used_bytes();
  event.next_full_at = growth_.threshold();
  {
    telemetry::LogSection done("gc-collect-done");
    done.line("%-22s %zu  =>  %zu", "arenas:", chunks_before, old_.committed_bytes() / kChunkBytes);
    done.line("%-22s %zu", "bytes used in arenas:", old_used_.load(std::memory_order_relaxed));
    done.line("%-22s %zu  =>  %zu", "bytes raw-malloced:", large_before, large_.used_bytes());
    done.line("next major collection threshold:  %f", static_cast<double>(growth_.threshold()));
  }
  log.line("stopping, now in gc state:  SCANNING");
  log.line("time taken:  %f", seconds(step.wall_ns()));
  event.wall_ns = watch.wall_ns();
  event.cpu_ns = watch.cpu_ns();
  full_pauses_.wall.record(event.wall_ns);
  full_pauses_.cpu.record(event.cpu_ns);
  return event;
}

void HeapCore::shade_roots() {
  const RootVisitor visitor(
      [](void* full, Object** slot) { static_cast<FullCycle*>(full)->shade(*slot); }, &full_);
  for (MutatorState* const state : world_.mutators()) {
    Object** const end = MutatorAccess::slot_top(*state->mutator);
    for (Object** slot = state->slots; slot != end; ++slot) full_.shade(*slot);
    for (RootProvider* const provider : state->providers) provider->visit_roots(visitor);
  }
  globals_.for_each([this](Object** slot) { full_.shade(*slot); });
}

template <class Use>
void HeapCore::take_overwritten(Use&& use) noexcept {
  const auto take = [&use](PushBuffer<Object*>& overwritten) {
    for (Object* const object : overwritten) use(object);
    overwritten.clear();
  };
  for (MutatorState* const state : world_.mutators()) take(state->overwritten);
  with_orphans([&](RememberedSet&, PushBuffer<Object*>& overwritten) { take(overwritten); });
}

void HeapCore::begin_marking() {
  promoted_while_marking_ = 0;
  // A thread without a mutator may have added something after the last cycle had ended.
  take_overwritten([](Object*) {});
  full_.begin();
  shade_roots();
}

bool HeapCore::mark_some(std::size_t references) {
  if (full_.mark_some(references)) return true;
  take_overwritten([this](Object* object) { full_.shade(object); });
  return full_.mark_some(1);
}

void HeapCore::mark_to_the_end() {
  while (mark_some(kMarkQuantum)) {
  }
  finish_marking();
}

void HeapCore::finish_marking() {
  full_.finish_marking();
  old_used_.store(full_.marked_bytes() + promoted_while_marking_, std::memory_order_relaxed);
}

void HeapCore::verify_or_die(const char* when) {
  const VerifyReport report = verify_heap(*this);
  if (report.complaints.empty()) return;
  platform::fatal("the verifier found %zu faults %s; the first: %s", report.complaints.size(), when,
                  report.complaints.front().c_str());
}

}  // namespace fallow::detail
