#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <source_location>
#include <vector>

#include "fallow/heap.h"
#include "fallow/step.h"
#include "heap/address_space.h"
#include "heap/full_cycle.h"
#include "heap/global_cells.h"
#include "heap/growth.h"
#include "heap/large_space.h"
#include "heap/ledger_account.h"
#include "heap/listeners.h"
#include "heap/marker_thread.h"
#include "heap/minor_collector.h"
#include "heap/mutator_state.h"
#include "heap/no_gc_gate.h"
#include "heap/nursery.h"
#include "heap/object_lives.h"
#include "heap/old_space.h"
#include "heap/pacer.h"
#include "heap/pause_target.h"
#include "heap/sampling.h"
#include "heap/share_cap.h"
#include "heap/stopwatch.h"
#include "heap/thread_absence.h"
#include "heap/world.h"
#include "telemetry/histogram.h"

namespace fallow::detail {

/// Bytes of young large objects that start a minor collection.
std::size_t young_large_limit(std::size_t nursery_bytes) noexcept;

/// What one attempt to hand memory back to the system came to.
enum class Reclaimed : std::uint8_t {
  kNothing,
  kLater,  ///< nothing is due yet, but will be
  kSome
};
/// Work between two chances for others: about a millisecond.
inline constexpr std::size_t kReclaimBatchBytes = std::size_t{4} << 20;
/// Free pages of large objects that the process keeps in any case.
inline constexpr std::size_t kLeastKeptPageBytes = std::size_t{1} << 20;
/// The moment `age_ns` before `now_ns`.
constexpr std::uint64_t before(std::uint64_t now_ns, std::uint64_t age_ns) noexcept {
  return now_ns > age_ns ? now_ns - age_ns : 0;
}

/// Heaps that exist in the process; see HeapCore::only_one_exists().
extern constinit std::atomic<std::size_t> g_heaps_alive;

/// One heap: its spaces, its mutators, and the decisions when to collect.
class HeapCore {
 public:
  explicit HeapCore(const HeapOptions& options);
  ~HeapCore();
  HeapCore(const HeapCore&) = delete;
  HeapCore& operator=(const HeapCore&) = delete;

  // Mutators (mutator.cpp, allocation.cpp).
  void attach(MutatorState* state);
  void detach(MutatorState* state) noexcept;
  std::uintptr_t allocate_slow(MutatorState& state, std::size_t bytes, std::size_t alignment);
  /// After a slow path: the limit becomes the end of the chunk, unless a stop is requested
  /// meanwhile.
  void rearm(MutatorState& state) noexcept;
  void safepoint(MutatorState& state) noexcept;
  void park(MutatorState* state);
  void unpark(MutatorState* state) noexcept;
  // Cursors (cursor.cpp).
  /// A piece of nursery of at most `at_most` bytes that begins with an object of `bytes`; none when
  /// the nursery cannot serve it.
  CursorPiece take_piece(MutatorState& state, std::size_t bytes, std::size_t at_most);
  /// The cursor has come to the limit of its piece with an object that still fits.
  void pass_limit(MutatorState& state, CursorPiece& piece, std::uintptr_t object,
                  std::size_t bytes) noexcept;
  /// The cursor is done; what is left of its piece behind `free` goes back where possible.
  void give_back(MutatorState& state, const CursorPiece& piece, std::uintptr_t free) noexcept;

  /// After a collection, the world running: events to listeners, and news of queues to theirs.
  void tell();
  /// From now on mutators may ask young objects for identity hashes, which need room when those are
  /// promoted. Throws OutOfMemory.
  void allow_hashes();
  /// Whether the reclaimer thread runs destructors.
  [[nodiscard]] bool destroys_aside() const noexcept;

  // Collections (collection.cpp).
  enum class Kind : std::uint8_t {
    kMinor,
    kFull,
    kTrim,       ///< a full one after which all free memory is handed back to the system
    kLastResort  ///< the same, for an allocation about to fail
  };
  /// Runs a collection of the kind, and a full one too when the growth rule asks for it. False when
  /// another thread collected first, and nothing was done.
  bool collect(Kind kind);
  /// An explicit request of any thread: returns when a collection that began after the call is
  /// over.
  void collect_now(Kind kind);

  // Ledgers (ledger_pacing.cpp).
  /// A collection for a ledger's sake, by a running mutator; none inside its NoGc. Whether it was
  /// this thread that collected.
  bool collect_for_ledger(Kind kind);
  /// Bytes charged since the last minor collection that start one.
  [[nodiscard]] std::size_t young_charge_limit() const noexcept { return young_large_limit_; }
  [[nodiscard]] const std::shared_ptr<LedgerTotal>& ledgers() const noexcept { return ledgers_; }
  [[nodiscard]] std::uint64_t minor_count() const noexcept {
    return minor_count_.load(std::memory_order_relaxed);
  }
  /// What full collections are scheduled by: used bytes, and those of ledgers that count for it.
  [[nodiscard]] std::size_t paced_bytes() const noexcept {
    return used_bytes() + ledgers_->counted.load(std::memory_order_relaxed);
  }

  /// Works on the full collection within a budget; begins one if none is under way.
  StepResult step(std::uint64_t cpu_ns, std::uint64_t deadline_ns);
  // NoGc (no_gc.cpp).
  void enter_no_gc(MutatorState& state, std::size_t bytes, std::uint64_t deadline_ns);
  void leave_no_gc(MutatorState& state) noexcept;
  [[nodiscard]] bool in_no_gc(const MutatorState& state) const noexcept {
    return state.no_gc.depth != 0 && !state.no_gc.over && gate_.is_open(state.no_gc.generation);
  }

  // Sampling (heap_sampling.cpp).
  void start_sampling(SampleSink& sink, const SamplingOptions& options);
  void set_sample_interval(std::size_t bytes);
  void stop_sampling();

  void pause_major(int change) noexcept {
    major_pauses_.fetch_add(change, std::memory_order_relaxed);
  }

  /// The pieces of a full collection (full_collection.cpp). Mutators may run between any two calls,
  /// minor collections included; each call needs them stopped, and begin_marking() a minor
  /// collection just before.
  void begin_marking();
  /// Scans about `references` references; false when everything reachable is marked.
  bool mark_some(std::size_t references);
  void finish_marking();
  /// After what is done for objects with a life of their own, if anything.
  void begin_sweeping();

  // For the marker thread, which visits the world.
  /// Marks a little; false when there is nothing that it may mark.
  bool mark_beside();
  /// It has marked so much in one visit.
  void marked_beside(std::size_t bytes, std::uint64_t cpu_ns) noexcept;

  // Free memory (reclaim.cpp). Safe beside mutators and collections; the caller holds the registry
  // of heaps.
  /// Hands back up to kReclaimBatchBytes of what has been free for long enough.
  Reclaimed reclaim_batch(std::uint64_t now_ns);
  /// The same whatever its age, and without keeping any; whether there was something.
  bool reclaim_everything();
  /// Bytes of free pages that the heap wants to keep.
  [[nodiscard]] std::size_t kept_page_bytes() const noexcept;

  /// Runs `work` with all mutators stopped, for the verifier and tests.
  template <class Work>
  void with_world_stopped(Work&& work);

  [[nodiscard]] HeapUsage usage() const noexcept;
  [[nodiscard]] HeapStatistics statistics();
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return old_used_.load(std::memory_order_relaxed) + large_.used_bytes();
  }
  [[nodiscard]] std::size_t committed_bytes() const noexcept {
    return nursery_.bytes() + old_.committed_bytes() + large_.used_bytes();
  }

  // Parts. Each says itself when it may be used.
  [[nodiscard]] const HeapOptions& options() const noexcept { return options_; }
  AddressSpace& space() noexcept { return space_; }
  Nursery& nursery() noexcept { return nursery_; }
  OldSpace& old_space() noexcept { return old_; }
  LargeSpace& large_space() noexcept { return large_; }
  GlobalCells& globals() noexcept { return globals_; }
  World& world() noexcept { return world_; }
  FullCycle& full_cycle() noexcept { return full_; }
  ObjectLives& lives() noexcept { return lives_; }
  [[nodiscard]] std::size_t max_nursery_object() const noexcept { return max_nursery_object_; }
  [[nodiscard]] const GrowthRule& growth() const noexcept { return growth_; }
  [[nodiscard]] const ShareCap& share_cap() const noexcept { return share_cap_; }

  /// The number of collections so far, and where the last one was caused (checked builds).
  [[nodiscard]] std::uint64_t epoch() const noexcept {
    return epoch_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const std::source_location& last_collection_site() const noexcept {
    return collection_site_;
  }

  /// Whether the process has no other heap now. A hint for barriers: true only if no other exists
  /// whose objects the calling thread could hold.
  [[nodiscard]] static bool only_one_exists() noexcept {
    return g_heaps_alive.load(std::memory_order_relaxed) == 1;
  }

  /// Heaps are numbered in the order of their creation.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  /// 0, 1, 2 …: makes the schedules of zeal differ between mutators.
  std::uint64_t next_mutator_number() noexcept {
    return mutators_made_.fetch_add(1, std::memory_order_relaxed);
  }

  Listeners& listeners() noexcept { return listeners_; }

  /// A set for slots recorded by threads without a mutator; takes a lock.
  template <class Use>
  void with_orphans(Use&& use) noexcept {
    const std::scoped_lock lock(orphans_mutex_);
    use(orphans_, orphan_overwritten_);
  }

  /// Stops the world for the calling thread, which is absent, after collections of others.
  void stop_world() noexcept;

  /// Fork handlers (heap_registry.cpp). The world stays stopped from the first one on.
  void prepare_fork();
  void parent_after_fork() noexcept;
  void child_after_fork() noexcept;

 private:
  struct Pauses {
    telemetry::PauseHistogram wall;
    telemetry::PauseHistogram cpu;
  };

  /// Bytes that so many of the nursery may come to when they are promoted.
  [[nodiscard]] std::size_t promotable(std::size_t bytes) const noexcept {
    // The smallest objects have 16 bytes, a hash another 8.
    return hashes_.load(std::memory_order_relaxed) ? bytes + bytes / 2 : bytes;
  }

  enum class Taken : std::uint8_t { kChunk, kNoneFree, kNoMemory, kOverLimit };

  void unlock_after_fork() noexcept;
  /// What a mutator has recorded goes to the orphans: its thread ends, or is gone after a fork.
  void hand_over(MutatorState& state) noexcept;
  void serve_stop_request() noexcept;
  std::uintptr_t allocate_large(MutatorState& state, std::size_t bytes);
  /// nullptr above the hard limit, or when the system has `refused`.
  Object* allocate_large_within_limit(std::size_t bytes, std::size_t span, bool* refused);
  /// Makes sure that `bytes` fit behind the free pointer; false when the nursery cannot serve them.
  bool make_room(MutatorState& state, std::size_t bytes);
  Taken take_chunks(MutatorState& state, std::size_t at_least);
  /// Whether an allocation that found no room after so many full collections should give up.
  [[nodiscard]] bool is_hopeless(std::size_t full_collections) const noexcept;
  /// Before an explicit collection: throws UsageError inside the calling thread's NoGc.
  void refuse_in_no_gc(const char* operation);
  /// An allocation has to collect although the thread has promised that it would not.
  void break_own_no_gc() noexcept;
  /// For an absent thread: stops the world when no NoGc is open.
  void stop_for_collection() noexcept;
  [[nodiscard]] bool fits_hard_limit(std::size_t growth) const noexcept;
  void zeal(MutatorState& state);
  /// After an object was placed by bumping: whether it holds the next chosen byte.
  void sample_bumped(MutatorState& state, std::uintptr_t start, std::size_t bytes) noexcept;
  /// All mutators pass their slow path before they allocate again.
  void recall_mutators() noexcept;
  /// The sampled young objects of everybody: calls use(buffer) for each place where some are noted.
  template <class Use>
  void for_each_young_samples(Use&& use) noexcept;
  void settle_samples() noexcept;
  [[noreturn]] void throw_out_of_memory(std::size_t bytes, std::size_t full_collections,
                                        bool refused);

  /// A collection needs no memory from outside the heap, so that it cannot fail halfway: tables
  /// that cannot grow make it do more work instead.
  void collect_stopped(Kind kind) noexcept;
  MinorEvent minor_collection();
  [[nodiscard]] std::size_t nursery_used_bytes() const noexcept;
  void visit_roots();
  void reset_mutators() noexcept;
  // Full collections (full_collection.cpp). These return CPU time in nanoseconds.
  /// A whole one in this pause.
  std::uint64_t full_collection();
  /// After a minor collection of `minor_ns`: what the full collection needs to keep pace with the
  /// program.
  std::uint64_t continue_cycle(std::uint64_t minor_ns);
  /// Whether a full collection should begin now that `used` bytes are used.
  [[nodiscard]] bool full_is_due(std::size_t used);
  /// Used memory at which the soft limit asks for a full collection.
  [[nodiscard]] std::size_t soft_threshold() const noexcept;
  /// While a mutator takes `bytes` of the `all_bytes` until the next minor collection: a step, for
  /// its part of what pacing owes the cycle.
  void pay_for(const MutatorState& state, std::size_t bytes, std::size_t all_bytes);
  void pay(std::uint64_t allowance);
  std::uint64_t spend(const StepBudget& budget);
  /// Works in one state of the cycle until it is left or the budget is spent.
  void slice(const StepBudget& budget);
  void note_roots();
  void note_overwritten() noexcept;
  /// After marking; false when all sampled objects have been looked at.
  bool find_dead_samples() noexcept;
  /// Calls use(buffer) for every place where barriers note overwritten references.
  template <class Use>
  void for_each_overwritten(Use&& use) noexcept;
  void finish_sweeping();
  void end_cycle();
  // Free memory.
  template <class Exclusively>
  Reclaimed reclaim(std::uint64_t freed_by_ns, std::size_t at_most, std::size_t keep,
                    Exclusively&& exclusively);
  /// Runs `work` while no collection does and no mutator takes memory.
  template <class Work>
  void between_collections(Work&& work);
  [[nodiscard]] std::size_t kept_free_bytes() const noexcept;
  /// At the end of a pause: the reclaimer, or where there is none this pause, does its work.
  void offer_free_memory();
  [[nodiscard]] std::size_t swept_blocks() const noexcept;
  void verify_or_die(const char* when);
  void report_stuck(const MutatorState& state, std::uint64_t waited_ns);

  HeapOptions options_;
  AddressSpace& space_;
  PauseTarget pause_target_;
  Nursery nursery_;
  OldSpace old_;
  LargeSpace large_;
  GlobalCells globals_;
  MinorCollector minor_;
  FullCycle full_;
  GrowthRule growth_;
  ShareCap share_cap_;
  Sampling sampling_;
  World world_;
  NoGcGate gate_;
  const std::size_t max_nursery_object_;
  const std::size_t young_large_limit_;

  platform::RankedMutex orphans_mutex_;
  RememberedSet orphans_;
  SnapshotLog orphan_overwritten_;
  PushBuffer<SampledObject> orphan_samples_;

  std::atomic<std::size_t> old_used_{0};
  std::size_t promoted_while_marking_ = 0;
  std::size_t large_promoted_while_marking_ = 0;
  std::uint64_t last_minor_ns_ = 0;
  std::atomic<std::uint64_t> epoch_{1};
  std::source_location collection_site_{};

  std::uint64_t number_ = 0;
  std::atomic<std::uint64_t> mutators_made_{0};
  std::atomic<std::uint64_t> allocated_{0};
  std::atomic<std::uint64_t> promoted_{0};
  std::atomic<std::uint64_t> minor_count_{0};
  std::atomic<std::uint64_t> full_count_{0};
  std::atomic<std::size_t> threshold_;
  std::atomic<std::size_t> last_work_bytes_{0};  ///< copied and marked by the last collection
  std::atomic<std::uint64_t> zeal_collections_{0};
  /// What the cycle under way, or the last one, has cost so far.
  struct CycleTotals {
    FullEvent event{};
    std::size_t large_before = 0;
    std::size_t chunks_before = 0;
    std::size_t blocks_to_sweep = 0;
    bool forced = false;  ///< by the soft limit
  };
  CycleTotals cycle_;
  std::size_t live_after_last_cycle_ = 0;
  bool forced_ = false;                    ///< the cycle about to begin is, by the soft limit
  Pacer marking_pacer_;                    ///< in bytes
  Pacer sweeping_pacer_;                   ///< in blocks
  std::atomic<std::uint64_t> owed_ns_{0};  ///< by pacing to the cycle, until the next collection
  std::atomic<std::uint64_t> next_payment_ns_{0};  ///< not before this moment
  std::atomic<int> major_pauses_{0};
  std::atomic<std::uint64_t> marker_cpu_ns_{0};
  std::atomic<std::uint64_t> marker_bytes_{0};

  Pauses pauses_;  ///< whole ones
  Pauses minor_pauses_;
  Pauses full_pauses_;
  Pauses step_pauses_;
  telemetry::PauseHistogram stop_pauses_;

  Listeners listeners_;

  ObjectLives lives_{*this};
  std::shared_ptr<LedgerTotal> ledgers_ = std::make_shared<LedgerTotal>();
  std::atomic<bool> hashes_{false};  ///< identity hashes of young objects have been asked for

  /// Last, so that it ends before what it works on.
  MarkerThread marker_{*this};
};

template <class Work>
void HeapCore::with_world_stopped(Work&& work) {
  const ThreadAbsence absence;
  stop_world();
  struct Resumed {
    World& world;
    ~Resumed() { world.resume(); }
  } const resumed{world_};
  work();
}

}  // namespace fallow::detail
