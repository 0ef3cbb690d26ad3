#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fallow/events.h"
#include "fallow/options.h"
#include "fallow/sample.h"
#include "fallow/statistics.h"
#include "fallow/step.h"

namespace fallow {

namespace detail {
class HeapCore;
struct HeapAccess;
}  // namespace detail

/// What Heap::verify found. No complaints means that every invariant holds.
struct VerifyReport {
  std::size_t objects = 0;      ///< reachable
  std::size_t bytes = 0;        ///< of reachable objects
  std::size_t old_objects = 0;  ///< reachable outside the nursery
  std::vector<std::string> complaints;
};

/// A precise, generational, garbage-collected heap for one process.
///
/// Threads work in it through a Mutator each. New objects are bump-allocated in a nursery; a minor
/// collection copies the survivors into an old space that does not move; a full collection marks
/// (snapshot at the beginning) and sweeps lazily. Several heaps may exist; objects of one must not
/// refer to objects of another. All members are thread-safe. Survives fork in the forking thread.
///
/// A thread may have mutators in several heaps. While it waits for one heap (in an allocation,
/// poll, collection, attach, detach, unpark or fork, or when a heap is created or destroyed), it
/// counts as parked in all: heaps collect independently of each other, and every Ref that the
/// thread holds, whatever its heap, may be stale afterwards.
class Heap {
 public:
  /// Throws OptionError for bad options and StartupError when the system refuses memory.
  explicit Heap(const HeapOptions& options = HeapOptions::from_environment());
  /// All mutators and Globals must be gone. If one is not, the heap's memory is left in place (a
  /// running thread may use it), and a checked build stops the program.
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// A full collection of everything, now. The calling thread may have a mutator here or none.
  /// Cost: proportional to live objects.
  void collect();
  /// A minor collection, now. Cost: proportional to young survivors and remembered slots.
  void collect_minor();

  /// Works on the full collection for about so much CPU time of the calling thread, with all
  /// mutators stopped; begins one, after a minor collection, if none is under way. Overruns by at
  /// most one quantum (some 50 µs) beyond that minor collection. A program that collects in idle
  /// time calls it until `cycle_ended`, and again when usage().next_full_at comes near.
  StepResult step(std::chrono::nanoseconds cpu_budget);
  /// The same until a moment, for event loops that know when they are needed again.
  StepResult step_until(std::chrono::steady_clock::time_point deadline);

  /// A full collection, after which all free memory is handed back to the system, whatever its
  /// age. Mutators run again while that happens.
  void trim();

  /// Takes nanoseconds.
  [[nodiscard]] HeapUsage usage() const noexcept;
  /// Takes some ten microseconds, for the percentiles of pauses.
  [[nodiscard]] HeapStatistics statistics() const;
  /// The options in force, with chosen values filled in.
  [[nodiscard]] const HeapOptions& options() const noexcept;

  /// Registers a listener; it stays until removed. Not to be called from a listener.
  void add_listener(EventListener& listener);
  /// After the return the listener is not called again.
  void remove_listener(EventListener& listener);

  /// Samples the allocations of all mutators from now on, and tells the sink what becomes of the
  /// sampled objects, until stop_sampling(). The allocation path stays as it is: the next sample
  /// point is one more reason for the limit that every allocation compares with (DESIGN H2). A
  /// cursor that is open goes on to the end of its piece, at most 128 KiB, unsampled. Stops all
  /// mutators for some microseconds, as do the next two. Throws UsageError when the heap is being
  /// sampled already, or for an interval of 0.
  void start_sampling(SampleSink& sink, const SamplingOptions& options = {});
  /// From now on samples are so many bytes apart; each sample says itself which interval it was
  /// taken with. Throws UsageError for 0, or when the heap is not being sampled.
  void set_sample_interval(std::size_t bytes);
  /// After the return the sink is not called again. Does nothing when the heap is not being
  /// sampled.
  void stop_sampling();

  /// Stops all mutators and checks every invariant with code that the collector does not share.
  /// Slow: meant for tests and diagnostics.
  [[nodiscard]] VerifyReport verify();

 private:
  friend struct detail::HeapAccess;
  friend class Mutator;
  std::unique_ptr<detail::HeapCore> core_;
};

namespace detail {
struct HeapAccess {
  static HeapCore& core(Heap& heap) noexcept { return *heap.core_; }
};
}  // namespace detail

}  // namespace fallow
