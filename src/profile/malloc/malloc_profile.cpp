#include "profile/malloc/malloc_profile.h"

#include <atomic>

#include "platform/fork_handlers.h"
#include "platform/split_mix.h"
#include "platform/thread_id.h"
#include "profile/record/recording.h"

namespace fallow::profile {

constinit BlockTable MallocProfile::table;
thread_local constinit MallocSampler MallocProfile::sampler;

namespace {
constinit std::atomic<Recording*> recording{nullptr};
}  // namespace

void MallocProfile::begin() noexcept {
  const InsideProfile inside;
  if (!table.allocate()) return;
  platform::on_fork([] { table.lock_all(); }, [] { table.unlock_all(); },
                    [] {
                      table.clear();
                      table.unlock_all();
                    },
                    platform::LockRank::kProfileBuffers);
  recording.store(&Recording::instance(), std::memory_order_release);
}

void MallocProfile::decide(const void* block, std::size_t bytes, const void* caller) noexcept {
  Recording* const known = recording.load(std::memory_order_acquire);
  if (thread_context.inside != 0) return;  // the recorder's own
  const std::size_t interval = known == nullptr ? 0 : known->interval_bytes();
  const std::uint64_t seed =
      known == nullptr
          ? 0
          : platform::mix_bits(known->seed() ^ platform::mix_bits(platform::current_thread_id()));
  if (!sampler.is_chosen(interval, seed) || block == nullptr || known == nullptr) return;
  const AllocationSample sample{bytes, sampler.interval_bytes(), SampleRoute::kMalloc};
  const SampleId id = known->take(sample, caller);
  if (id != 0 && !table.add(block, id)) known->untracked(0, {&id, 1});
}

void MallocProfile::restore(const void* block, SampleId id) noexcept {
  if (!table.add(block, id)) {
    if (Recording* const known = recording.load(std::memory_order_acquire)) {
      known->untracked(0, {&id, 1});
    }
  }
}

void MallocProfile::tell_freed(SampleId id) noexcept {
  if (Recording* const known = recording.load(std::memory_order_acquire)) {
    known->died(0, 0, {&id, 1});
  }
}

}  // namespace fallow::profile
