#include "heap/snapshot_log.h"

#include <algorithm>

#include "heap/full_cycle.h"

namespace fallow::detail {

namespace {
/// Marks that are fetched ahead.
constexpr std::size_t kAhead = 16;
}  // namespace

void SnapshotLog::add(Object* object, FullCycle& cycle) noexcept {
  if (noted_.size() == kBatch) claim_noted(cycle);
  if (!noted_.push(object)) cycle.shade_without_memory(object);
}

void SnapshotLog::claim_noted(FullCycle& cycle) noexcept {
  const std::size_t count = noted_.size();
  for (std::size_t i = 0; i < std::min(kAhead, count); ++i) cycle.prefetch_mark(noted_[i]);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) cycle.prefetch_mark(noted_[i + kAhead]);
    Object* const object = noted_[i];
    if (cycle.claim(object) && !claimed_.push(object)) cycle.claimed_object_lost();
  }
  noted_.clear();
}

void SnapshotLog::absorb(SnapshotLog& other, FullCycle& cycle) noexcept {
  for (Object* const object : other.noted_) add(object, cycle);
  for (Object* const object : other.claimed_) {
    if (!claimed_.push(object)) cycle.claimed_object_lost();
  }
  other.clear();
}

void SnapshotLog::clear() noexcept {
  noted_.clear();
  claimed_.clear();
}

}  // namespace fallow::detail
