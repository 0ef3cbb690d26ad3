#include "heap/world.h"

#include <algorithm>

#include "platform/clock.h"
#include "platform/futex.h"
#include "platform/spin.h"
#include "telemetry/collector_time.h"

namespace fallow::detail {

namespace {

/// How long a wait spins before it goes to the kernel: longer than most minor collections take,
/// about as long as it takes until a thread that slept runs again …
constexpr std::uint64_t kSpinNs = 50'000;
/// … and when there are more mutators than processors, so that who spins may keep another from
/// running.
constexpr std::uint64_t kCrowdedSpinNs = 5'000;

}  // namespace

World::World(std::uint64_t stop_warning_ns, StuckReport report)
    : mutex_(platform::LockRank::kHeapState, "world"),
      stop_warning_ns_(stop_warning_ns),
      report_(std::move(report)) {}

void World::add(MutatorState* state) {
  Lock lock(mutex_);
  while (stop_requested()) wait_until_resumed(lock);
  mutators_.push_back(state);
  count_.store(mutators_.size(), std::memory_order_relaxed);
}

void World::remove(MutatorState* state, const std::function<void()>& hand_over) noexcept {
  Lock lock(mutex_);
  // The collector reads the list without the lock, and walks this mutator's slots.
  while (stop_requested()) wait_until_resumed(lock);
  hand_over();
  mutators_.erase(std::find(mutators_.begin(), mutators_.end(), state));
  count_.store(mutators_.size(), std::memory_order_relaxed);
}

void World::enter(MutatorState* first_of_thread,
                  const std::function<bool(const MutatorState&)>& enters) noexcept {
  Lock lock(mutex_);
  while (stop_requested()) wait_until_resumed(lock);
  for (MutatorState* state = first_of_thread; state != nullptr; state = state->next_on_thread) {
    if (!enters(*state)) continue;
    state->status = MutatorState::Status::kRunning;
    running_.fetch_add(1);
  }
}

void World::leave(MutatorState* state, MutatorState::Status status) noexcept {
  const Lock lock(mutex_);
  state->status = status;
  count_out();
}

void World::count_out() noexcept {
  if (running_.fetch_sub(1) == 1 && stop_requested()) platform::futex_wake_all(running_);
}

World::Visit::Visit(World& world) noexcept : world_(world) {
  Lock lock(world.mutex_);
  while (world.stop_requested()) world.wait_until_resumed(lock);
  world.running_.fetch_add(1);
}

World::Visit::~Visit() {
  const Lock lock(world_.mutex_);
  world_.count_out();
}

bool World::stop(std::uint32_t since, std::uint64_t* waited_ns) noexcept {
  Lock lock(mutex_);
  if (stop_requested() || resume_count() != since) {
    while (stop_requested()) wait_until_resumed(lock);
    return false;
  }
  const std::uint64_t started = platform::monotonic_ns();
  stop_requested_.store(true, std::memory_order_seq_cst);
  for (MutatorState* const state : mutators_) {
    if (state->status != MutatorState::Status::kRunning) continue;
    MutatorAccess::limit(*state->mutator).store(0, std::memory_order_seq_cst);
  }
  *waited_ns = 0;
  if (running_.load(std::memory_order_acquire) != 0) {
    wait_until_quiet(lock, started);
    *waited_ns = platform::monotonic_ns() - started;
  }
  telemetry::enter_collector();
  return true;
}

void World::resume() noexcept {
  telemetry::leave_collector();
  const Lock lock(mutex_);
  stop_requested_.store(false, std::memory_order_seq_cst);
  resumes_.fetch_add(1);
  if (waiters_ != 0) platform::futex_wake_all(resumes_);
}

std::uint64_t World::spin_ns() const noexcept {
  return platform::can_run_at_once(mutator_count()) ? kSpinNs : kCrowdedSpinNs;
}

void World::wait_until_resumed(Lock& lock) noexcept {
  const std::uint32_t seen = resumes_.load(std::memory_order_acquire);
  ++waiters_;
  lock.unlock();
  const auto resumed = [&] { return resumes_.load(std::memory_order_acquire) != seen; };
  if (!platform::spin_until(resumed, spin_ns())) {
    while (!resumed()) platform::futex_wait(resumes_, seen, 0);
  }
  lock.lock();
  --waiters_;
}

void World::wait_until_quiet(Lock& lock, std::uint64_t started_ns) noexcept {
  lock.unlock();
  const auto quiet = [&] { return running_.load(std::memory_order_acquire) == 0; };
  std::uint64_t warn_at = started_ns + stop_warning_ns_;
  while (!platform::spin_until(quiet, spin_ns())) {
    const std::uint32_t running = running_.load(std::memory_order_acquire);
    if (running == 0) break;
    platform::futex_wait(running_, running, stop_warning_ns_);
    const std::uint64_t now = platform::monotonic_ns();
    if (now < warn_at || quiet()) continue;
    report_stuck(now - started_ns);
    warn_at = now + stop_warning_ns_;
  }
  lock.lock();
}

void World::report_stuck(std::uint64_t waited_ns) noexcept {
  PushBuffer<const MutatorState*> stuck;
  {
    const Lock lock(mutex_);
    for (const MutatorState* const state : mutators_) {
      if (state->status != MutatorState::Status::kRunning) continue;
      // Without memory for the list the next warning tries again.
      if (!stuck.push(state)) break;
    }
  }
  // A stuck mutator cannot go away meanwhile: detaching waits for the stop to end.
  for (const MutatorState* const state : stuck) report_(*state, waited_ns);
}

// The locks of several heaps have equal ranks: forking takes them past the rank check.
void World::prepare_fork() { mutex_.native().lock(); }

void World::parent_after_fork() noexcept { mutex_.native().unlock(); }

void World::child_after_fork(const MutatorState* first_of_thread,
                             const std::function<void(MutatorState*)>& drop) {
  std::uint32_t running = 0;
  std::vector<MutatorState*> kept;
  for (MutatorState* const state : mutators_) {
    const MutatorState* own = first_of_thread;
    while (own != nullptr && own != state) own = own->next_on_thread;
    if (own == nullptr) {
      drop(state);
      continue;
    }
    kept.push_back(state);
    if (state->status == MutatorState::Status::kRunning) ++running;
  }
  mutators_.swap(kept);
  waiters_ = 0;
  count_.store(mutators_.size(), std::memory_order_relaxed);
  running_.store(running);
  mutex_.native().unlock();
}

}  // namespace fallow::detail
