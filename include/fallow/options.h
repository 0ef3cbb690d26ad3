#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fallow {

/// How a heap behaves. Plain data: set members, then pass it to Heap. from_environment() starts
/// from the defaults and applies the FALLOW_* variables; docs/options.md lists them all with units
/// and ranges. Zero means "choose" where a comment says so.
struct HeapOptions {
  /// Bytes of nursery shared by all mutators of the heap, 4 KiB … 1 GiB. 0: chosen from the caches.
  std::size_t nursery_bytes = 0;
  /// Ceiling of the bytes that the nursery, the old space and large objects take from the system.
  /// Slot stacks and the collector's own tables come on top. 0: none.
  std::size_t hard_limit_bytes = 0;
  /// Used memory that the heap tries to stay below: full collections start in time for it, whatever
  /// the growth rule says. 0: three quarters of the smallest limit of the container (cgroup) that
  /// the process runs in, or none.
  std::size_t soft_limit_bytes = 0;
  /// The part of the time that collections forced by a limit may take in the long run, 0.01 … 0.99.
  /// A program that leaks into the soft limit grows beyond it rather than be collected more often;
  /// at the hard limit, or when the system refuses memory, it gets OutOfMemory once such
  /// collections have taken a second more than their part.
  double limit_cpu_share = 0.5;
  /// A full collection starts when the old space has grown by this factor since the last, 1.1 … 10.
  double growth_factor = 1.82;
  /// … but after at most this many bytes of growth. 0: no cap.
  std::size_t growth_cap_bytes = 0;
  /// … and never below this many bytes of old space. 0: chosen from the nursery.
  std::size_t growth_floor_bytes = 0;
  /// CPU time of one step of a full collection, at most. A step follows a minor collection; while
  /// these are not enough for the cycle to end before the heap has grown past its goal, there are
  /// further ones while the nursery is filled. 0: full collections are not sliced.
  std::uint64_t step_budget_microseconds = 500;
  /// 1: a thread of the heap marks while the program runs, so that less of a full collection is
  /// left for pauses. For programs that leave a processor idle: a collection waits for this thread
  /// as it does for mutators, some ten microseconds when each has a processor of its own, else
  /// until the system lets it run. Trace functions of types then run beside the program. Not in the
  /// child of a fork.
  std::size_t marker_threads = 0;
  /// A whole pause, the copies of a minor collection and a step of a full one, should take no more
  /// CPU time in 999 of 1000 cases: the heap then uses only so much of the nursery between two
  /// collections. What it achieves is HeapStatistics::pause_cpu. 0: the nursery is used as it is.
  std::uint64_t pause_target_microseconds = 0;
  /// Free memory is handed back to the system when it has not been used for so long, but for what
  /// the next full nursery and a sixteenth of the memory in use would need. Free pages of large
  /// objects go by the least of all heaps.
  std::uint64_t reclaim_age_microseconds = 500'000;
  /// A thread of the process does that (it is started when there is something to hand back, and
  /// serves all heaps); without it, as in the child of a fork, pauses do, 256 KiB at a time.
  bool reclaimer_thread = true;
  /// Bytes of address space for the slots of Locals of each mutator; pages are used on demand.
  std::size_t slot_stack_bytes = std::size_t{8} << 20;
  /// A stop request that waits longer than this reports the mutator that does not poll.
  std::uint64_t stop_warning_microseconds = 1'000'000;
  /// Ask for huge pages for the nursery, and for the old space beyond its first 4 MiB.
  bool huge_pages = true;

  /// Diagnostics; each says on standard error that it is active.
  /// Collect at every n-th allocation on average. 0: off.
  std::size_t zeal = 0;
  /// Seed of the schedule of zeal.
  std::uint64_t zeal_seed = 1;
  /// Number of nurseries that take turns, the idle ones inaccessible, so that stale references
  /// fault. 0 or 1: off.
  std::size_t rotating_nurseries = 0;
  /// Fill unused nursery and free cells with a pattern. Always on in checked builds.
  bool poison = false;
  /// Run the verifier before and after every collection.
  bool verify = false;

  /// Defaults with the FALLOW_* environment variables applied. Throws OptionError for a value that
  /// cannot be read or is out of range.
  static HeapOptions from_environment();
  /// Throws OptionError if a member is out of range.
  void validate() const;
};

/// All options as a Markdown table: name, variable, unit, default, range, meaning.
std::string options_as_markdown();

}  // namespace fallow
