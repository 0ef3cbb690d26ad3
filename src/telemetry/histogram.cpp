#include "telemetry/histogram.h"

#include <bit>
#include <cmath>

namespace fallow::telemetry {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

uint64_t saturating_add(uint64_t a, uint64_t b) noexcept {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// A single writer needs no locked instruction, only stores that readers may see.
void add(std::atomic<uint64_t>& target, uint64_t amount) noexcept {
  target.store(saturating_add(target.load(kRelaxed), amount), kRelaxed);
}

// For buckets, which are written last and read first: whoever sees a value there sees everything
// else about it, too.
void publish(std::atomic<uint64_t>& target, uint64_t amount) noexcept {
  target.store(saturating_add(target.load(kRelaxed), amount), std::memory_order_release);
}

}  // namespace

size_t PauseHistogram::bucket_of(uint64_t ns) noexcept {
  if (ns < kSubBuckets) return static_cast<size_t>(ns);
  // The leading one selects a group of buckets, the kSubBucketBits bits behind it one of them.
  const auto width = static_cast<unsigned>(std::bit_width(ns));
  const unsigned shift = width - 1 - kSubBucketBits;
  return (size_t{shift} + 1) * kSubBuckets + static_cast<size_t>((ns >> shift) - kSubBuckets);
}

uint64_t PauseHistogram::bucket_first(size_t bucket) noexcept {
  if (bucket < kSubBuckets) return bucket;
  const size_t shift = bucket / kSubBuckets - 1;
  return uint64_t{kSubBuckets + bucket % kSubBuckets} << shift;
}

uint64_t PauseHistogram::bucket_last(size_t bucket) noexcept {
  if (bucket < kSubBuckets) return bucket;
  const size_t shift = bucket / kSubBuckets - 1;
  return bucket_first(bucket) + ((uint64_t{1} << shift) - 1);
}

void PauseHistogram::record(uint64_t ns) noexcept {
  note_extremes(ns, ns);
  add(total_, ns);
  add(count_, 1);
  publish(buckets_[bucket_of(ns)], 1);
}

void PauseHistogram::note_extremes(uint64_t smallest, uint64_t largest) noexcept {
  if (smallest < min_.load(kRelaxed)) min_.store(smallest, kRelaxed);
  if (largest > max_.load(kRelaxed)) max_.store(largest, kRelaxed);
}

void PauseHistogram::merge(const Snapshot& other) noexcept {
  if (other.count == 0) return;
  note_extremes(other.min_ns, other.max_ns);
  add(total_, other.total_ns);
  add(count_, other.count);
  for (size_t i = 0; i < kBuckets; ++i) {
    if (other.buckets[i] != 0) publish(buckets_[i], other.buckets[i]);
  }
}

void PauseHistogram::merge(const PauseHistogram& other) noexcept { merge(other.snapshot()); }

void PauseHistogram::clear() noexcept {
  for (auto& bucket : buckets_) bucket.store(0, kRelaxed);
  count_.store(0, kRelaxed);
  total_.store(0, kRelaxed);
  min_.store(UINT64_MAX, kRelaxed);
  max_.store(0, kRelaxed);
}

uint64_t PauseHistogram::min_ns() const noexcept {
  const uint64_t smallest = min_.load(kRelaxed);
  return smallest == UINT64_MAX && max_ns() != UINT64_MAX ? 0 : smallest;
}

PauseHistogram::Snapshot PauseHistogram::snapshot() const noexcept {
  Snapshot copy;
  // Counted from the buckets, so that percentiles agree with the count beside a writer.
  for (size_t i = 0; i < kBuckets; ++i) {
    copy.buckets[i] = buckets_[i].load(std::memory_order_acquire);
    copy.count = saturating_add(copy.count, copy.buckets[i]);
  }
  copy.total_ns = total_ns();
  copy.min_ns = min_ns();
  copy.max_ns = max_ns();
  return copy;
}

uint64_t PauseHistogram::percentile(double q) const noexcept { return snapshot().percentile(q); }

uint64_t PauseHistogram::Snapshot::percentile(double q) const noexcept {
  if (count == 0) return 0;
  if (!(q > 0)) return min_ns;
  if (q >= 1) return max_ns;
  const double wanted = std::ceil(q * static_cast<double>(count));
  const uint64_t rank = wanted < 1 ? 1 : static_cast<uint64_t>(wanted);
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen = saturating_add(seen, buckets[i]);
    if (seen < rank) continue;
    const uint64_t last = bucket_last(i);
    return last < max_ns ? last : max_ns;
  }
  return max_ns;
}

double PauseHistogram::Snapshot::mean_ns() const noexcept {
  return count == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(count);
}

}  // namespace fallow::telemetry
