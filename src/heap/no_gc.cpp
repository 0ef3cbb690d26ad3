#include "fallow/no_gc.h"

#include <algorithm>
#include <limits>
#include <string>

#include "fallow/errors.h"
#include "heap/heap_core.h"
#include "platform/clock.h"
#include "platform/fatal.h"
#include "telemetry/size_parser.h"

namespace fallow {

NoGc::NoGc(Mutator& mutator, std::size_t bytes, std::chrono::nanoseconds deadline)
    : mutator_(mutator), free_at_entry_(0), entered_ns_(platform::monotonic_ns()) {
  using Access = detail::MutatorAccess;
  if constexpr (detail::kChecked) detail::check_mutator_use(mutator, "NoGc");
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(deadline.count(), 0));
  constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t at = ns > kNever - entered_ns_ ? kNever : entered_ns_ + ns;
  Access::core(mutator).enter_no_gc(Access::state(mutator), bytes, at);
  free_at_entry_ = Access::free(mutator);
}

NoGc::~NoGc() {
  using Access = detail::MutatorAccess;
  Access::core(mutator_).leave_no_gc(Access::state(mutator_));
}

NoGcReport NoGc::report() const noexcept {
  using Access = detail::MutatorAccess;
  NoGcReport report;
  report.wall_ns = platform::monotonic_ns() - entered_ns_;
  report.overrun = !Access::core(mutator_).in_no_gc(Access::state(mutator_));
  if (!report.overrun) report.allocated_bytes = Access::free(mutator_) - free_at_entry_;
  return report;
}

namespace detail {

namespace {
/// Collections that an entry runs for its room.
constexpr int kTries = 4;
}  // namespace

void HeapCore::enter_no_gc(MutatorState& state, std::size_t bytes, std::uint64_t deadline_ns) {
  NoGcState& scope = state.no_gc;
  Mutator& mutator = *state.mutator;
  if (scope.depth != 0) {
    const std::uintptr_t free = MutatorAccess::free(mutator);
    const std::size_t left =
        in_no_gc(state) && scope.promise_end > free ? scope.promise_end - free : 0;
    if (bytes > left) {
      throw UsageError("fallow: NoGc: the outer scope has " + telemetry::format_bytes(left) +
                       " left, not " + telemetry::format_bytes(bytes));
    }
    ++scope.depth;
    return;
  }
  if (bytes > nursery_.bytes() / 2) {
    throw UsageError("fallow: NoGc: " + telemetry::format_bytes(bytes) +
                     " is more than half of the nursery, " +
                     telemetry::format_bytes(nursery_.bytes()));
  }
  const std::size_t chunks = (bytes + nursery_.chunk_bytes() - 1) / nursery_.chunk_bytes();
  for (int tries = 0; state.chunk_end - MutatorAccess::free(mutator) < bytes; ++tries) {
    const Taken taken = take_chunks(state, chunks);
    if (state.chunk_end - MutatorAccess::free(mutator) >= bytes) break;
    if (tries == kTries) {
      rearm(state);
      throw_out_of_memory(bytes, kTries, taken == Taken::kNoMemory);
    }
    const bool refused = taken == Taken::kNoMemory || taken == Taken::kOverLimit;
    collect(refused ? Kind::kLastResort : Kind::kMinor);
  }
  // No collection can have come between: this thread runs.
  scope = {.depth = 1,
           .generation = gate_.enter(deadline_ns),
           .promise_end = MutatorAccess::free(mutator) + bytes,
           .over = false};
  rearm(state);
}

void HeapCore::leave_no_gc(MutatorState& state) noexcept {
  NoGcState& scope = state.no_gc;
  if (--scope.depth != 0 || scope.over) return;
  gate_.leave(scope.generation, false);
}

void HeapCore::break_own_no_gc() noexcept {
  MutatorState* const state = mutator_of_thread(this);
  if (state == nullptr || !in_no_gc(*state)) return;
  state->no_gc.over = true;
  gate_.leave(state->no_gc.generation, true);
}

void HeapCore::refuse_in_no_gc(const char* operation) {
  const MutatorState* const state = mutator_of_thread(this);
  if (state == nullptr || !in_no_gc(*state)) return;
  throw UsageError(std::string("fallow: ") + operation + " in a NoGc scope of the mutator '" +
                   state->name + "'");
}

}  // namespace detail
}  // namespace fallow
