#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "fallow/object.h"
#include "fallow/sample.h"
#include "heap/full_cycle.h"
#include "heap/push_buffer.h"
#include "telemetry/byte_sampler.h"

namespace fallow::detail {

/// A sampled object and its number at the sink.
struct SampledObject {
  Object* object;
  SampleId id;
};

/// A mutator's part in sampling. Its gap ends inside the bump area: the limit of the mutator is at
/// most the address of the next chosen byte.
struct MutatorSamples {
  static constexpr std::uintptr_t kNone = std::numeric_limits<std::uintptr_t>::max();

  telemetry::ByteSampler sampler;
  std::uint64_t generation = 0;     ///< of the settings that the sampler follows
  std::uintptr_t next = kNone;      ///< address of the next chosen byte
  PushBuffer<SampledObject> young;  ///< since the last minor collection

  /// The next chosen byte at or behind `from`.
  [[nodiscard]] std::uintptr_t chosen_from(std::uintptr_t from) noexcept {
    return sampler.is_active() ? from + sampler.next_gap() - 1 : kNone;
  }
  /// A gap that begins at `from`; drops the one before.
  void draw(std::uintptr_t from) noexcept { next = chosen_from(from); }
};

/// The sampled objects of a heap and whom to tell about them.
///
/// Unless said otherwise calls need all mutators stopped; what they change is read by mutators that
/// run. Costs are proportional to samples. Without memory for its tables it goes on and tells the
/// sink which samples it has lost sight of.
class Sampling {
 public:
  [[nodiscard]] bool is_on() const noexcept { return sink_ != nullptr; }
  void start(SampleSink& sink, const SamplingOptions& options) noexcept;
  void set_interval(std::size_t bytes) noexcept;
  /// After the last settle(): forgets all samples and the sink.
  void stop() noexcept;

  // For a mutator that runs.
  /// Takes over what has changed since the last call.
  void follow(MutatorSamples& samples, std::uint64_t mutator_number, std::uintptr_t free) noexcept {
    if (samples.generation != generation_) [[unlikely]]
      adopt(samples, mutator_number, free);
  }
  /// The object, whose header is yet to be written, is sampled.
  void take(MutatorSamples& samples, std::uintptr_t object, std::size_t bytes,
            SampleRoute route) noexcept;

  /// There is no memory to follow these any further. Also for a thread that leaves.
  void lose(const PushBuffer<SampledObject>& samples) noexcept;

  /// Near the end of minor collection number `gc`: survivors are copied or known as reached, the
  /// others are still intact.
  void settle(PushBuffer<SampledObject>& young, std::uint64_t gc) noexcept;
  /// Before the end: all are young still.
  void settle_at_end(PushBuffer<SampledObject>& young, std::uint64_t gc) noexcept;

  /// A full collection begins: what its marking does not reach will have died.
  void begin_cycle() noexcept { checked_ = kept_ = 0; }
  /// After marking and finalizing, before anything is swept: looks at about `count` old samples and
  /// tells of those that died in full collection number `gc`; false when all have been looked at.
  bool find_dead(const FullCycle& cycle, std::size_t count, std::uint64_t gc) noexcept;

 private:
  /// Calls of the sink take so many at a time.
  static constexpr std::size_t kBatch = 128;

  void adopt(MutatorSamples& samples, std::uint64_t mutator_number, std::uintptr_t free) noexcept;
  template <class Judge>
  void settle_all(PushBuffer<SampledObject>& young, std::uint64_t gc, Judge&& judge) noexcept;

  SampleSink* sink_ = nullptr;
  SamplingOptions options_{};
  std::uint64_t generation_ = 0;
  std::uint64_t started_ = 0;  ///< the generation of the last start: its seed counts from there
  PushBuffer<SampledObject> old_;
  std::size_t checked_ = 0;  ///< of old_, by the cycle under way
  std::size_t kept_ = 0;     ///< of those, alive
};

}  // namespace fallow::detail
