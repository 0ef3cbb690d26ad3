#include "fallow/mutator.h"

#include <algorithm>
#include <string>

#include "fallow/errors.h"
#include "fallow/frame.h"
#include "fallow/heap.h"
#include "heap/destruction_scope.h"
#include "heap/heap_core.h"
#include "platform/fatal.h"
#include "platform/thread_id.h"
#include "platform/virtual_memory.h"

namespace fallow {

namespace {

std::unique_ptr<detail::MutatorState> make_state(detail::HeapCore& core, std::string_view name) {
  const HeapOptions& options = core.options();
  auto state = std::make_unique<detail::MutatorState>();
  state->core = &core;
  state->thread_id = platform::current_thread_id();
  state->name = name.empty() ? "thread " + std::to_string(state->thread_id) : std::string(name);
  state->number = core.next_mutator_number();
  state->zeal = detail::ZealSchedule(options.zeal, options.zeal_seed + state->number);
  const std::size_t page = platform::page_size();
  state->slots_bytes = (options.slot_stack_bytes + page - 1) / page * page;
  void* const slots = platform::reserve(state->slots_bytes, 0);
  if (slots == nullptr || !platform::commit(slots, state->slots_bytes)) {
    if (slots != nullptr) platform::release(slots, state->slots_bytes);
    throw StartupError("fallow: the system refused " + std::to_string(state->slots_bytes) +
                       " bytes for the slot stack of mutator '" + state->name + "'");
  }
  state->slots = static_cast<Object**>(slots);
  return state;
}

}  // namespace

Mutator::Mutator(Heap& heap, std::string_view name)
    : free_(detail::kEmptyRange),
      limit_(detail::kEmptyRange),
      heap_(&heap),
      core_(&detail::HeapAccess::core(heap)),
      state_(make_state(*core_, name)) {
  slot_top_ = state_->slots;
  slot_end_ = slot_top_ + state_->slots_bytes / sizeof(Object*);
  state_->mutator = this;
  core_->attach(state_.get());
}

Mutator::~Mutator() {
  if constexpr (detail::kChecked) {
    detail::check_mutator_use(*this, "~Mutator");
    if (slot_top_ != state_->slots) {
      platform::fatal("mutator '%s' is destroyed while Locals exist", state_->name.c_str());
    }
  }
  core_->detach(state_.get());
  // Volatile, since no valid program reads it any more.
  if constexpr (detail::kChecked) *const_cast<Heap* volatile*>(&heap_) = nullptr;
}

void Mutator::poll_slow() {
  if constexpr (detail::kChecked) detail::check_mutator_use(*this, "poll");
  core_->safepoint(*state_);
}

Parked::Parked(Mutator& mutator) : mutator_(mutator) {
  detail::MutatorAccess::core(mutator).park(&detail::MutatorAccess::state(mutator));
}

Parked::~Parked() {
  detail::MutatorAccess::core(mutator_).unpark(&detail::MutatorAccess::state(mutator_));
}

RootProviderScope::RootProviderScope(Mutator& mutator, RootProvider& provider)
    : mutator_(mutator), provider_(provider) {
  detail::MutatorAccess::state(mutator_).providers.push_back(&provider_);
}

RootProviderScope::~RootProviderScope() {
  auto& providers = detail::MutatorAccess::state(mutator_).providers;
  providers.erase(std::find(providers.begin(), providers.end(), &provider_));
}

Frame::Frame(Mutator& mutator, std::size_t count) : mutator_(mutator), count_(count) {
  using Access = detail::MutatorAccess;
  if constexpr (detail::kChecked) detail::check_mutator_use(mutator, "Frame");
  slots_ = Access::slot_top(mutator);
  if (static_cast<std::size_t>(Access::slot_end(mutator) - slots_) < count) {
    detail::throw_slot_stack_overflow(mutator);
  }
  std::fill_n(slots_, count, nullptr);
  Access::slot_top(mutator) = slots_ + count;
}

Frame::~Frame() {
  using Access = detail::MutatorAccess;
  if constexpr (detail::kChecked) {
    if (Access::slot_top(mutator_) != slots_ + count_) detail::local_out_of_order();
  }
  Access::slot_top(mutator_) = slots_;
}

namespace detail {

MutatorState::~MutatorState() { platform::release(slots, slots_bytes); }

void HeapCore::attach(MutatorState* state) {
  push_mutator_of_thread(state);
  const ThreadAbsence absence(state);
  try {
    world_.add(state);
  } catch (...) {
    // Not one of those that run again when the absence ends.
    remove_mutator_of_thread(state);
    throw;
  }
}

void HeapCore::detach(MutatorState* state) noexcept {
  const ThreadAbsence absence;
  world_.remove(state, [this, state] { hand_over(*state); });
  remove_mutator_of_thread(state);
}

void HeapCore::hand_over(MutatorState& state) noexcept {
  with_orphans([&](RememberedSet& set, SnapshotLog& overwritten) {
    set.absorb(state.remembered);
    overwritten.absorb(state.overwritten, full_);
    if (!orphan_samples_.append(state.samples.young.begin(), state.samples.young.end())) {
      sampling_.lose(state.samples.young);
    }
    state.samples.young.clear();
  });
  lives_.hand_over(state.young);
}

void HeapCore::park(MutatorState* state) {
  if (state->status == MutatorState::Status::kParked) {
    throw UsageError("fallow: the mutator '" + state->name + "' is parked already");
  }
  if constexpr (kChecked) check_mutator_use(*state->mutator, "Parked");
  world_.leave(state, MutatorState::Status::kParked);
}

void HeapCore::unpark(MutatorState* state) noexcept {
  {
    const ThreadAbsence absence(state);
  }
  rearm(*state);
}

void throw_slot_stack_overflow(Mutator& mutator) {
  throw SlotStackOverflow(MutatorAccess::state(mutator).slots_bytes / sizeof(Object*));
}

void throw_size_error(std::size_t length, std::size_t item_bytes) {
  throw SizeError(length, item_bytes);
}

void check_mutator_use(Mutator& mutator, const char* operation) noexcept {
  refuse_in_destructor();
  if (MutatorAccess::is_detached(mutator)) {
    platform::fatal("%s: the mutator was detached already", operation);
  }
  const MutatorState& state = MutatorAccess::state(mutator);
  const std::uint64_t thread = platform::current_thread_id();
  // In a fork child the thread has a new number but its mutators are still its own.
  if (state.thread_id != thread && mutator_of_thread(state.core) != &state) {
    platform::fatal("%s: mutator '%s' belongs to thread %llu, not to thread %llu", operation,
                    state.name.c_str(), static_cast<unsigned long long>(state.thread_id),
                    static_cast<unsigned long long>(thread));
  }
  if (state.status == MutatorState::Status::kParked) {
    platform::fatal("%s: mutator '%s' is parked", operation, state.name.c_str());
  }
  for (const MutatorState* own = first_mutator_of_thread(); own != nullptr;
       own = own->next_on_thread) {
    if (!own->constructing) continue;
    platform::fatal("%s: a constructor of a managed object may not use a heap", operation);
  }
}

void set_constructing(Mutator& mutator, bool constructing) noexcept {
  MutatorAccess::state(mutator).constructing = constructing;
}

void local_out_of_order() noexcept {
  platform::fatal("a Local or Frame is destroyed out of order: scopes must nest");
}

}  // namespace detail
}  // namespace fallow
