#include <algorithm>
#include <mutex>

#include "fallow/errors.h"
#include "heap/heap_core.h"
#include "platform/clock.h"

namespace fallow::detail {

namespace {
/// Young large objects of so many bytes start a minor collection, if the nursery is not larger.
constexpr std::size_t kSmallestYoungLargeLimit = std::size_t{8} << 20;
/// Full collections that one allocation runs before it fails.
constexpr std::size_t kFullCollectionsBeforeFailure = 2;
/// Minor collections that one allocation runs before it goes without the nursery: open cursors or
/// more mutators than chunks can hold all of a tiny one.
constexpr std::size_t kMinorCollectionsBeforeLarge = 3;
/// What one of n mutators takes of the nursery at a time: at most this part of its n-th.
constexpr std::size_t kTakesPerShare = 8;
}  // namespace

std::size_t young_large_limit(std::size_t nursery_bytes) noexcept {
  return std::max(nursery_bytes, kSmallestYoungLargeLimit);
}

std::uintptr_t allocate_slow(Mutator& mutator, std::size_t bytes, std::size_t alignment) {
  return MutatorAccess::core(mutator).allocate_slow(MutatorAccess::state(mutator), bytes,
                                                    alignment);
}

std::uintptr_t allocate_slow_at(Mutator& mutator, std::size_t bytes, std::size_t alignment,
                                const std::source_location& where) {
  MutatorAccess::state(mutator).site = where;
  return allocate_slow(mutator, bytes, alignment);
}

void HeapCore::rearm(MutatorState& state) noexcept {
  Mutator& mutator = *state.mutator;
  // Zeal sees every allocation: nothing fits below the limit.
  const std::uintptr_t limit = state.zeal.active() ? MutatorAccess::free(mutator)
                                                   : std::min(state.chunk_end, state.samples.next);
  MutatorAccess::limit(mutator).exchange(limit, std::memory_order_seq_cst);
  if (world_.stop_requested()) MutatorAccess::limit(mutator).store(0, std::memory_order_seq_cst);
}

void HeapCore::serve_stop_request() noexcept {
  if (!world_.stop_requested()) return;
  const ThreadAbsence until_resumed;
}

void HeapCore::safepoint(MutatorState& state) noexcept {
  serve_stop_request();
  rearm(state);
}

std::uintptr_t HeapCore::allocate_slow(MutatorState& state, std::size_t bytes,
                                       std::size_t alignment) {
  Mutator& mutator = *state.mutator;
  serve_stop_request();
  if (state.zeal.active() && !in_no_gc(state)) zeal(state);
  const std::size_t padding = alignment > kObjectGranule ? kObjectGranule : 0;
  if (bytes > max_nursery_object_ || !make_room(state, bytes + padding)) {
    const std::uintptr_t object = allocate_large(state, bytes);
    rearm(state);
    return object;
  }
  // Only now: sampling may have begun or ended while this thread made room.
  sampling_.follow(state.samples, state.number, MutatorAccess::free(mutator));
  std::uintptr_t start = MutatorAccess::free(mutator);
  if (alignment > kObjectGranule) start = (start + alignment - 1) & ~(alignment - 1);
  MutatorAccess::free(mutator) = start + bytes;
  sample_bumped(state, start, bytes);
  rearm(state);
  return start;
}

void HeapCore::sample_bumped(MutatorState& state, std::uintptr_t start,
                             std::size_t bytes) noexcept {
  MutatorSamples& samples = state.samples;
  // In the padding for alignment: no object was hit.
  if (samples.next < start) samples.draw(start);
  if (start + bytes <= samples.next) return;
  sampling_.take(samples, start, bytes, SampleRoute::kNursery);
  samples.draw(start + bytes);
}

bool HeapCore::make_room(MutatorState& state, std::size_t bytes) {
  std::size_t minor_collections = 0;
  std::size_t full_collections = 0;
  while (state.chunk_end - MutatorAccess::free(*state.mutator) < bytes) {
    const Taken taken = take_chunks(state, 1);
    switch (taken) {
      case Taken::kChunk:
        pay_for(state, nursery_.chunk_bytes(), nursery_.allotment_bytes());
        break;
      case Taken::kNoneFree:
        if (minor_collections++ == kMinorCollectionsBeforeLarge) return false;
        collect(Kind::kMinor);
        break;
      case Taken::kNoMemory:
      case Taken::kOverLimit:
        if (is_hopeless(full_collections)) {
          rearm(state);
          throw_out_of_memory(bytes, full_collections, taken == Taken::kNoMemory);
        }
        if (collect(Kind::kLastResort)) ++full_collections;
        break;
    }
  }
  return true;
}

bool HeapCore::is_hopeless(std::size_t full_collections) const noexcept {
  return full_collections == kFullCollectionsBeforeFailure ||
         share_cap_.is_exhausted(platform::monotonic_ns());
}

HeapCore::Taken HeapCore::take_chunks(MutatorState& state, std::size_t at_least) {
  const std::scoped_lock lock(nursery_.mutex());
  // Who needs several at once, for a promise, gets them whatever the pause target.
  const std::size_t allotted = nursery_.allotment_left();
  if (at_least == 1 && allotted == 0) return Taken::kNoneFree;
  std::size_t chunks = std::max(std::min(state.chunks_to_take, allotted), at_least);
  // Whatever of the nursery survives must find room in the old space, whatever its size classes.
  const auto outstanding_with = [this](std::size_t more) {
    return promotable(nursery_.taken_bytes() + more * nursery_.chunk_bytes());
  };
  const bool owes = owed_ns_.load(std::memory_order_relaxed) != 0;
  if (owes || old_.growth_for(outstanding_with(chunks)) != 0) chunks = at_least;
  const std::size_t outstanding = outstanding_with(chunks);
  const std::size_t growth = old_.growth_for(outstanding);
  if (growth != 0) {
    if (nursery_.taken_bytes() == nursery_.bytes()) return Taken::kNoneFree;
    if (!fits_hard_limit(growth)) return Taken::kOverLimit;
    if (!old_.reserve_for(outstanding)) return Taken::kNoMemory;
  }
  const Nursery::Range chunk = nursery_.take(state.chunk_end, chunks);
  if (chunk.end == 0) return Taken::kNoneFree;
  // A thread that allocates much comes here seldom: everything it meets here is cold by then.
  const std::size_t share = nursery_.chunk_count() / (kTakesPerShare * world_.mutator_count());
  state.chunks_to_take = std::min(state.chunks_to_take * 2, std::max<std::size_t>(share, 1));
  allocated_.fetch_add(chunk.end - chunk.begin, std::memory_order_relaxed);
  // A neighbour of the chunk before simply extends it.
  if (chunk.begin != state.chunk_end) {
    MutatorAccess::free(*state.mutator) = chunk.begin;
    state.samples.draw(chunk.begin);
  }
  state.chunk_end = chunk.end;
  return Taken::kChunk;
}

bool HeapCore::fits_hard_limit(std::size_t growth) const noexcept {
  return options_.hard_limit_bytes == 0 || committed_bytes() + growth <= options_.hard_limit_bytes;
}

Object* HeapCore::allocate_large_within_limit(std::size_t bytes, std::size_t span, bool* refused) {
  // With a limit, no other thread may take memory between the question and the answer.
  std::unique_lock lock(nursery_.mutex(), std::defer_lock);
  if (options_.hard_limit_bytes != 0) {
    lock.lock();
    if (!fits_hard_limit(span)) return nullptr;
  }
  Object* const object = large_.allocate(bytes);
  *refused = object == nullptr;
  return object;
}

std::uintptr_t HeapCore::allocate_large(MutatorState& state, std::size_t bytes) {
  const std::size_t span = large_.span_for(bytes);
  const std::size_t young = large_.young_bytes();
  if (young != 0 && young + span > young_large_limit_ && !in_no_gc(state)) {
    collect(Kind::kMinor);
  }
  pay_for(state, span, young_large_limit_);
  for (std::size_t full_collections = 0;;) {
    bool refused = false;
    Object* const object = allocate_large_within_limit(bytes, span, &refused);
    if (object != nullptr) {
      allocated_.fetch_add(span, std::memory_order_relaxed);
      // As above.
      sampling_.follow(state.samples, state.number, MutatorAccess::free(*state.mutator));
      if (state.samples.sampler.chooses(bytes)) {
        sampling_.take(state.samples, reinterpret_cast<std::uintptr_t>(object), bytes,
                       SampleRoute::kLarge);
      }
      return reinterpret_cast<std::uintptr_t>(object);
    }
    if (is_hopeless(full_collections)) {
      rearm(state);
      throw_out_of_memory(bytes, full_collections, refused);
    }
    if (collect(Kind::kLastResort)) ++full_collections;
  }
}

void HeapCore::throw_out_of_memory(std::size_t bytes, std::size_t full_collections, bool refused) {
  OutOfMemory::Facts facts;
  facts.requested_bytes = bytes;
  facts.used_bytes = used_bytes();
  {
    const std::scoped_lock lock(nursery_.mutex());
    facts.committed_bytes = committed_bytes();
  }
  facts.hard_limit_bytes = options_.hard_limit_bytes;
  facts.full_collections = full_collections;
  facts.operating_system_refused = refused;
  facts.share_exceeded = full_collections < kFullCollectionsBeforeFailure;
  if (facts.share_exceeded) share_cap_.forgive();
  throw OutOfMemory(facts);
}

void HeapCore::zeal(MutatorState& state) {
  const ZealSchedule::Action action = state.zeal.tick();
  if (action == ZealSchedule::Action::kNone) return;
  const Kind kind = action == ZealSchedule::Action::kFull ? Kind::kFull : Kind::kMinor;
  if (collect(kind)) state.zeal.paid(last_work_bytes_.load(std::memory_order_relaxed));
  zeal_collections_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace fallow::detail
