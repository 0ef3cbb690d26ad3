// The heap's full collection: roots, slices, pacing. FullCycle marks and sweeps.
#include <algorithm>
#include <limits>
#include <utility>

#include "heap/heap_core.h"
#include "platform/clock.h"
#include "telemetry/log.h"

namespace fallow::detail {

namespace {

/// References that are scanned, and blocks and large objects that are swept, between two looks at
/// the clock: some ten microseconds when memory is cold.
constexpr std::size_t kMarkQuantum = 64;
constexpr std::size_t kSweepQuantum = 4;
/// The same for entries of objects with a life of their own.
constexpr std::size_t kFinalizeQuantum = 32;
/// Less is not worth a stop.
constexpr std::uint64_t kLeastPaymentNs = 50'000;
/// A cycle for the soft limit begins this part of it below.
constexpr std::size_t kRoomBelowSoftLimit = 16;

/// The states' names in the log are those of the RPython log.
const char* log_name(CycleState state) noexcept {
  switch (state) {
    case CycleState::kMarking:
      return "MARKING";
    case CycleState::kFinalizing:
      return "FINALIZING";
    case CycleState::kSweeping:
      return "SWEEPING";
    case CycleState::kIdle:
      break;
  }
  return "SCANNING";
}

}  // namespace

std::uint64_t HeapCore::full_collection() {
  const StepBudget unlimited(StepBudget::kUnlimited);
  // A cycle under way keeps what died since it began: only a new one counts.
  while (full_.state() != CycleState::kIdle) slice(unlimited);
  do {
    slice(unlimited);
  } while (full_.state() != CycleState::kIdle);
  const std::uint64_t cpu_ns = unlimited.watch().cpu_ns();
  full_pauses_.wall.record(unlimited.watch().wall_ns());
  full_pauses_.cpu.record(cpu_ns);
  return cpu_ns;
}

std::uint64_t HeapCore::continue_cycle(std::uint64_t minor_ns) {
  owed_ns_.store(0, std::memory_order_relaxed);
  if (major_pauses_.load(std::memory_order_relaxed) != 0) return 0;
  const std::size_t used = paced_bytes();
  const CycleState state = full_.state();
  const bool due = state == CycleState::kIdle && full_is_due(used);
  if (options_.step_budget_microseconds == 0) {
    return due ? full_collection() : 0;
  }
  if (state == CycleState::kIdle && !due) return 0;
  std::uint64_t allowance = options_.step_budget_microseconds * 1000;
  if (state == CycleState::kMarking) {
    allowance = marking_pacer_.allowance(used, full_.marking_done());
    owed_ns_.store(marking_pacer_.owed(), std::memory_order_relaxed);
  } else if (state == CycleState::kFinalizing) {
    // Nothing becomes free before it is done.
    owed_ns_.store(allowance, std::memory_order_relaxed);
  } else if (state == CycleState::kSweeping) {
    allowance = sweeping_pacer_.allowance(used, swept_blocks());
    owed_ns_.store(sweeping_pacer_.owed(), std::memory_order_relaxed);
  }
  return spend(StepBudget(pause_target_.step_allowance(allowance, minor_ns)));
}

std::size_t HeapCore::soft_threshold() const noexcept {
  const std::size_t limit = options_.soft_limit_bytes;
  if (limit == 0) return std::numeric_limits<std::size_t>::max();
  // The nursery is used memory too, and the cycle needs room for what is promoted meanwhile.
  const std::size_t room = nursery_.bytes() + limit / kRoomBelowSoftLimit;
  return limit > room ? limit - room : 0;
}

bool HeapCore::full_is_due(std::size_t used) {
  if (used >= growth_.threshold()) return true;
  forced_ = used >= soft_threshold() && share_cap_.is_paid(platform::monotonic_ns());
  return forced_;
}

void HeapCore::pay_for(const MutatorState& state, std::size_t bytes, std::size_t all_bytes) {
  const std::uint64_t owed = owed_ns_.load(std::memory_order_relaxed);
  if (owed == 0 || major_pauses_.load(std::memory_order_relaxed) != 0 || in_no_gc(state)) return;
  if (platform::monotonic_ns() < next_payment_ns_.load(std::memory_order_relaxed)) return;
  const double part = static_cast<double>(bytes) / static_cast<double>(all_bytes);
  const auto share = static_cast<std::uint64_t>(static_cast<double>(owed) * part);
  const std::uint64_t budget = options_.step_budget_microseconds * 1000;
  const std::uint64_t allowance = std::clamp(share, std::min(kLeastPaymentNs, budget), budget);
  // While this thread runs here, nobody else can collect.
  const std::uint32_t since = world_.resume_count();
  {
    const ThreadAbsence absence;
    std::uint64_t waited = 0;
    if (gate_.is_closed() || !world_.stop(since, &waited)) return;
    stop_pauses_.record(waited);
    if (full_.state() != CycleState::kIdle && !gate_.is_closed()) pay(allowance);
    world_.resume();
  }
  tell();
}

void HeapCore::pay(std::uint64_t allowance) {
  if (options_.verify) verify_or_die("before a step");
  const StepBudget budget(pause_target_.step_allowance(allowance, 0));
  const std::uint64_t cpu = spend(budget);
  const std::uint64_t owed = owed_ns_.load(std::memory_order_relaxed);
  const bool done = full_.state() == CycleState::kIdle;
  owed_ns_.store(done ? 0 : owed - std::min(owed, cpu), std::memory_order_relaxed);
  // The program gets at least as much time as it pays.
  const std::uint64_t paid_ns = budget.watch().wall_ns();
  next_payment_ns_.store(platform::monotonic_ns() + paid_ns, std::memory_order_relaxed);
  pauses_.cpu.record(cpu);
  pauses_.wall.record(paid_ns);
  offer_free_memory();
  if (options_.verify) verify_or_die("after a step");
}

StepResult HeapCore::step(std::uint64_t cpu_ns, std::uint64_t deadline_ns) {
  refuse_in_no_gc("a step");
  StepResult result;
  {
    const ThreadAbsence absence;
    stop_for_collection();
    if (options_.verify) verify_or_die("before a step");
    const StepBudget budget(cpu_ns, deadline_ns);
    result.before = full_.state();
    // A cycle that begins counts from zero.
    const bool begins = result.before == CycleState::kIdle;
    const std::size_t marked = begins ? 0 : full_.marking_done();
    const std::size_t swept = begins ? 0 : swept_blocks();
    std::uint64_t cpu = begins ? minor_collection().cpu_ns : 0;
    cpu += spend(budget);
    pauses_.cpu.record(cpu);
    pauses_.wall.record(budget.watch().wall_ns());
    result.after = full_.state();
    result.marked_bytes = full_.marking_done() - marked;
    result.swept_blocks = swept_blocks() - swept;
    if (result.after == CycleState::kMarking) {
      result.remaining_mark_bytes = marking_pacer_.remaining(full_.marking_done());
    }
    result.remaining_blocks = old_.unswept_blocks();
    result.cpu_ns = budget.watch().cpu_ns();
    result.wall_ns = budget.watch().wall_ns();
    result.cycle_ended = result.after == CycleState::kIdle;
    if (options_.verify) verify_or_die("after a step");
    offer_free_memory();
    world_.resume();
  }
  tell();
  return result;
}

std::uint64_t HeapCore::spend(const StepBudget& budget) {
  const Stopwatch watch;
  StepEvent event{};
  event.before = full_.state();
  do {
    slice(budget);
  } while (full_.state() != CycleState::kIdle && !budget.spent());
  event.after = full_.state();
  event.wall_ns = watch.wall_ns();
  event.cpu_ns = watch.cpu_ns();
  step_pauses_.wall.record(event.wall_ns);
  step_pauses_.cpu.record(event.cpu_ns);
  listeners_.note(event);
  if (options_.marker_threads != 0 && event.after == CycleState::kMarking) marker_.notify();
  return event.cpu_ns;
}

void HeapCore::slice(const StepBudget& budget) {
  const Stopwatch watch;
  const CycleState before = full_.state();
  telemetry::LogSection log("gc-collect-step");
  log.line("starting gc state:  %s", log_name(before));
  if (before == CycleState::kIdle) {
    begin_marking();
  } else if (before == CycleState::kMarking) {
    const std::size_t done = full_.marking_done();
    note_overwritten();
    bool more = true;
    do {
      more = mark_some(kMarkQuantum);
    } while (more && !budget.spent());
    marking_pacer_.learn(full_.marking_done() - done, watch.cpu_ns());
    log.line("number of objects to mark %zu plus %zu", full_.pending(), std::size_t{0});
    if (!more) finish_marking();
  } else if (before == CycleState::kFinalizing) {
    bool more = true;
    do {
      more = lives_.finalize_some(kFinalizeQuantum);
    } while (more && !budget.spent());
    // What finalizers keep is marked by now.
    while (!more && find_dead_samples()) more = budget.spent();
    if (!more) begin_sweeping();
  } else {
    const std::size_t done = swept_blocks();
    bool more = true;
    do {
      more = full_.sweep_some(kSweepQuantum);
    } while (more && !budget.spent());
    sweeping_pacer_.learn(swept_blocks() - done, watch.cpu_ns());
  }
  cycle_.event.wall_ns += watch.wall_ns();
  cycle_.event.cpu_ns += watch.cpu_ns();
  ++cycle_.event.steps;
  if (full_.state() == CycleState::kIdle) end_cycle();
  log.line("stopping, now in gc state:  %s", log_name(full_.state()));
  log.line("time taken:  %f", seconds(watch.wall_ns()));
}

template <class Use>
void HeapCore::for_each_overwritten(Use&& use) noexcept {
  for (MutatorState* const state : world_.mutators()) use(state->overwritten);
  with_orphans([&use](RememberedSet&, SnapshotLog& overwritten) { use(overwritten); });
}

void HeapCore::begin_marking() {
  const std::size_t used = paced_bytes();
  cycle_ = CycleTotals{};
  cycle_.event.used_bytes_before = used_bytes();
  cycle_.forced = std::exchange(forced_, false);
  // A thread without a mutator may have added something after the last cycle had ended.
  for_each_overwritten([](SnapshotLog& log) { log.clear(); });
  promoted_while_marking_ = 0;
  large_promoted_while_marking_ = 0;
  const std::size_t grown = used > live_after_last_cycle_ ? used - live_after_last_cycle_ : 0;
  std::size_t goal = used + std::max(grown / 2, 2 * nursery_.bytes());
  if (cycle_.forced) goal = std::min(goal, used + nursery_.bytes());
  marking_pacer_.begin(used, goal, used_bytes());
  full_.begin();
  sampling_.begin_cycle();
  lives_.begin_marking();
  note_roots();
}

void HeapCore::note_roots() {
  const RootVisitor visitor(
      [](void* full, Object** slot) { static_cast<FullCycle*>(full)->shade(*slot); }, &full_);
  for (MutatorState* const state : world_.mutators()) {
    full_.shade_later(state->slots, MutatorAccess::slot_top(*state->mutator));
    for (RootProvider* const provider : state->providers) provider->visit_roots(visitor);
  }
  globals_.for_each([this](Object** slot) { full_.shade_later(slot, slot + 1); });
}

void HeapCore::note_overwritten() noexcept {
  for_each_overwritten([this](SnapshotLog& log) { full_.scan_later(log.take(full_)); });
}

bool HeapCore::mark_some(std::size_t references) {
  if (full_.mark_some(references)) return true;
  note_overwritten();
  if (lives_.shade_waiting(references)) return true;
  return full_.mark_some(1);
}

bool HeapCore::find_dead_samples() noexcept {
  return sampling_.find_dead(full_, kMarkQuantum, full_count_.load(std::memory_order_relaxed) + 1);
}

bool HeapCore::mark_beside() {
  if (full_.state() != CycleState::kMarking || gate_.is_closed()) return false;
  if (major_pauses_.load(std::memory_order_relaxed) != 0) return false;
  return full_.mark_beside(kMarkQuantum);
}

void HeapCore::marked_beside(std::size_t bytes, std::uint64_t cpu_ns) noexcept {
  cycle_.event.marker_cpu_ns += cpu_ns;
  marker_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  marker_cpu_ns_.fetch_add(cpu_ns, std::memory_order_relaxed);
}

void HeapCore::finish_marking() {
  full_.finish_marking();
  if (!lives_.begin_finalizing() && !sampling_.is_on()) begin_sweeping();
}

void HeapCore::begin_sweeping() {
  cycle_.large_before = large_.used_bytes();
  cycle_.chunks_before = old_.committed_bytes() / kChunkBytes;
  full_.begin_sweeping();
  const std::size_t old_live = full_.marked_bytes() + promoted_while_marking_;
  old_used_.store(old_live, std::memory_order_relaxed);
  // Large objects that died are counted until they are swept. What only finalizers keep is no
  // reason to wait longer for the next collection.
  live_after_last_cycle_ = old_live + full_.marked_large_bytes() + large_promoted_while_marking_ +
                           large_.young_bytes() - full_.kept_bytes() +
                           ledgers_->counted.load(std::memory_order_relaxed);
  growth_.collected(live_after_last_cycle_);
  threshold_.store(growth_.threshold(), std::memory_order_relaxed);
  cycle_.blocks_to_sweep = old_.unswept_blocks();
  sweeping_pacer_.begin(paced_bytes(), growth_.threshold(), cycle_.blocks_to_sweep);
}

std::size_t HeapCore::swept_blocks() const noexcept {
  return cycle_.blocks_to_sweep - std::min(old_.unswept_blocks(), cycle_.blocks_to_sweep);
}

void HeapCore::finish_sweeping() {
  while (full_.state() == CycleState::kFinalizing || full_.state() == CycleState::kSweeping) {
    slice(StepBudget(StepBudget::kUnlimited));
  }
}

void HeapCore::end_cycle() {
  FullEvent& event = cycle_.event;
  event.number = full_count_.fetch_add(1, std::memory_order_relaxed) + 1;
  event.used_bytes_after = used_bytes();
  event.next_full_at = growth_.threshold();
  last_work_bytes_.fetch_add(event.used_bytes_after, std::memory_order_relaxed);
  if (cycle_.forced) share_cap_.collected(event.cpu_ns, platform::monotonic_ns());
  listeners_.note(event);
  telemetry::LogSection log("gc-collect-done");
  log.line("%-22s %zu  =>  %zu", "arenas:", cycle_.chunks_before,
           old_.committed_bytes() / kChunkBytes);
  log.line("%-22s %zu", "bytes used in arenas:", old_used_.load(std::memory_order_relaxed));
  log.line("%-22s %zu  =>  %zu", "bytes raw-malloced:", cycle_.large_before, large_.used_bytes());
  log.line("next major collection threshold:  %f", static_cast<double>(growth_.threshold()));
}

}  // namespace fallow::detail
