// What a heap hands back to the system, and when.
#include <algorithm>
#include <mutex>

#include "heap/heap_core.h"
#include "heap/reclaimer.h"
#include "platform/clock.h"

namespace fallow::detail {

namespace {

/// Free memory of this part of what is used is kept for what comes next.
constexpr std::size_t kSpareFraction = 16;
/// What a pause hands back where no thread does: some ten microseconds of system time.
constexpr std::size_t kSliceBytes = std::size_t{256} << 10;

}  // namespace

std::size_t HeapCore::kept_free_bytes() const noexcept {
  const std::size_t spare = old_used_.load(std::memory_order_relaxed) / kSpareFraction;
  return std::max(nursery_.bytes(), spare);
}

std::size_t HeapCore::kept_page_bytes() const noexcept {
  return large_.used_bytes() / kSpareFraction;
}

/// `exclusively(work)` runs work while no collection and no mutator uses the old space.
template <class Exclusively>
Reclaimed HeapCore::reclaim(std::uint64_t freed_by_ns, std::size_t at_most, std::size_t keep,
                            Exclusively&& exclusively) {
  OldSpace::IdleBlocks idle;
  Chunk* chunk = nullptr;
  bool later = false;
  // What mutators have taken of the nursery must find room, whatever else is free.
  const auto kept = [this, keep] { return std::max(keep, promotable(nursery_.taken_bytes())); };
  exclusively([&] { idle = old_.take_idle(freed_by_ns, at_most / kBlockBytes, kept()); });
  if (idle.blocks != 0) idle.hand_back();
  exclusively([&] {
    if (idle.blocks != 0) old_.return_clean(idle);
    chunk = old_.take_clean_chunk(kept());
    later = old_.has_idle(kept());
  });
  if (chunk != nullptr) space_.release_chunk(reinterpret_cast<std::uintptr_t>(chunk));
  if (idle.blocks != 0 || chunk != nullptr) return Reclaimed::kSome;
  return later ? Reclaimed::kLater : Reclaimed::kNothing;
}

bool HeapCore::destroys_aside() const noexcept {
  return options_.reclaimer_thread && Reclaimer::may_run();
}

Reclaimed HeapCore::reclaim_batch(std::uint64_t now_ns) {
  if (lives_.dead_bytes().destroy_all() != 0) return Reclaimed::kSome;
  return reclaim(before(now_ns, options_.reclaim_age_microseconds * 1000), kReclaimBatchBytes,
                 kept_free_bytes(), [this](auto&& work) { between_collections(work); });
}

bool HeapCore::reclaim_everything() {
  return reclaim(UINT64_MAX, kReclaimBatchBytes, 0,
                 [this](auto&& work) { between_collections(work); }) == Reclaimed::kSome;
}

template <class Work>
void HeapCore::between_collections(Work&& work) {
  const World::Visit visit(world_);
  const std::scoped_lock lock(nursery_.mutex());
  work();
}

void HeapCore::offer_free_memory() {
  // Where the thread has not come to life after all, this one stands in.
  if (!lives_.dead_bytes().empty() && !Reclaimer::notify()) lives_.dead_bytes().destroy_all();
  const std::size_t kept_pages = kLeastKeptPageBytes + kept_page_bytes();
  if (!old_.has_idle(kept_free_bytes()) && space_.dirty_page_bytes() <= kept_pages) return;
  if (options_.reclaimer_thread && Reclaimer::notify()) return;
  const std::uint64_t freed_by =
      before(platform::monotonic_coarse_ns(), options_.reclaim_age_microseconds * 1000);
  reclaim(freed_by, kSliceBytes, kept_free_bytes(), [](auto&& work) { work(); });
  space_.reclaim_pages(freed_by, kSliceBytes, kept_pages);
}

}  // namespace fallow::detail
