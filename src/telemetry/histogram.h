// Durations in buckets whose width grows with the value: cheap to record, good to 1/32.
//
// Values below 32 have a bucket each; above, every power of two is divided into 32 equal buckets,
// up to the largest 64-bit value. 15 KiB, no allocation.
//
// Units: nanoseconds by convention; any unsigned quantity works.
// Thread-safety: one writer at a time (record, merge, clear). Any thread may read at any time and
// sees values that are individually right but may be one recording apart.
// Errors: none; the total saturates.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fallow::telemetry {

class PauseHistogram {
 public:
  static constexpr unsigned kSubBucketBits = 5;
  static constexpr size_t kSubBuckets = size_t{1} << kSubBucketBits;
  static constexpr size_t kBuckets = (64 - kSubBucketBits + 1) * kSubBuckets;

  // A copy at one moment; plain data.
  struct Snapshot {
    uint64_t count = 0;
    uint64_t total_ns = 0;
    uint64_t min_ns = 0;  // 0 when empty
    uint64_t max_ns = 0;
    std::array<uint64_t, kBuckets> buckets{};

    // See PauseHistogram::percentile.
    uint64_t percentile(double q) const noexcept;
    // Arithmetic mean, 0 when empty.
    double mean_ns() const noexcept;
  };

  // Adds one value: a few instructions, no locked operation.
  void record(uint64_t ns) noexcept;

  // Adds all values of another histogram.
  void merge(const PauseHistogram& other) noexcept;
  void merge(const Snapshot& other) noexcept;

  void clear() noexcept;

  uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  uint64_t total_ns() const noexcept { return total_.load(std::memory_order_relaxed); }
  uint64_t min_ns() const noexcept;  // 0 when empty
  uint64_t max_ns() const noexcept { return max_.load(std::memory_order_relaxed); }

  // The value that the fraction q (0 .. 1; 0.99 for p99) of all recorded values does not exceed;
  // exact for q = 0 and q = 1, else too large by at most 1/32. 0 when empty.
  uint64_t percentile(double q) const noexcept;

  Snapshot snapshot() const noexcept;

  // The bucket of a value, and the smallest and largest value of a bucket.
  static size_t bucket_of(uint64_t ns) noexcept;
  static uint64_t bucket_first(size_t bucket) noexcept;
  static uint64_t bucket_last(size_t bucket) noexcept;

 private:
  void note_extremes(uint64_t smallest, uint64_t largest) noexcept;

  std::atomic<uint64_t> count_{0};
  std::atomic<uint64_t> total_{0};
  std::atomic<uint64_t> min_{UINT64_MAX};
  std::atomic<uint64_t> max_{0};
  std::array<std::atomic<uint64_t>, kBuckets> buckets_{};
};

static_assert(sizeof(PauseHistogram) <= 16 * 1024);

}  // namespace fallow::telemetry
