#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fallow {

/// Where a sampled object was allocated.
enum class SampleRoute : std::uint8_t {
  kNursery = 0,  ///< by bumping a pointer
  kLarge = 1,    ///< a large object of a managed heap, with pages of its own
  kMalloc = 2,   ///< malloc and its kin
  kDevice = 3    ///< memory of a device
};

/// One allocation that a sampler has chosen.
///
/// Each byte that is allocated is chosen with probability 1/interval, independently of all others,
/// and an object is sampled when at least one of its bytes is: with p = 1 − exp(−bytes/interval).
/// So a sample stands for 1/p objects and bytes/p bytes; sums of these are unbiased whatever the
/// sizes, and whenever the interval changes.
struct AllocationSample {
  std::size_t bytes;           ///< that the object takes: rounded, header included
  std::size_t interval_bytes;  ///< mean distance of samples in force for this one
  SampleRoute route;
};

/// A sink's own number for a sample; 0 is none: the sample is not followed any further.
using SampleId = std::uint64_t;

/// What became of a sampled object that was young at the last minor collection.
struct SampleFate {
  enum class Outcome : std::uint8_t {
    kDied = 0,
    kSurvived = 1,   ///< it is old now; see on_died
    kStillYoung = 2  ///< sampling ends before the next minor collection
  };
  SampleId id;
  Outcome outcome;
  std::string_view type;  ///< the name of the object's type; for the time of the call only
};

/// Receives the samples of one or more allocators. Implemented by the profile recorder; anybody
/// else may implement it, too.
class SampleSink {
 public:
  virtual ~SampleSink() = default;

  /// On the allocating thread, inside the allocation, with no lock of the allocator held. May walk
  /// the stack, lock and allocate plain memory, but must use no managed heap. The object's type is
  /// not known yet: on_minor() tells it. Several threads may call at the same time.
  virtual SampleId on_sample(const AllocationSample& sample) noexcept = 0;

  /// What minor collection number `gc` of the heap has decided about samples taken since the one
  /// before. Called with all mutators stopped, several times for one collection: must not wait for
  /// any of them, and has to be quick.
  virtual void on_minor(std::uint64_t gc, std::span<const SampleFate> fates) noexcept = 0;

  /// Samples that had survived a minor collection and were found dead by full collection number
  /// `gc`. Called with all mutators stopped, several times for one collection.
  virtual void on_died(std::uint64_t gc, std::span<const SampleId> ids) noexcept = 0;

  /// Samples that were taken and could not be followed for want of memory: their fate is unknown.
  virtual void on_untracked(std::span<const SampleId> ids) noexcept = 0;
};

/// What Heap::start_sampling needs to know.
struct SamplingOptions {
  /// Mean distance of samples in bytes, from 1 up. It may exceed the nursery.
  std::size_t interval_bytes = std::size_t{512} << 10;
  /// The sequence of every mutator's gaps derives from this.
  std::uint64_t seed = 0;
};

}  // namespace fallow
