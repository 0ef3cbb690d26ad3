#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "fallow/frame.h"
#include "fallow/mutator.h"
#include "heap/nursery.h"
#include "heap/push_buffer.h"
#include "heap/remembered_set.h"
#include "heap/sampling.h"
#include "heap/snapshot_log.h"
#include "heap/young_lives.h"
#include "heap/zeal.h"

namespace fallow::detail {

/// An empty bump range: any size is past its end, and a stop request (limit 0) is still noticed.
inline constexpr std::uintptr_t kEmptyRange = 16;

/// The NoGc scopes of a mutator; the outermost one holds the heap's gate.
struct NoGcState {
  std::size_t depth = 0;
  std::uint64_t generation = 0;    ///< of the gate
  std::uintptr_t promise_end = 0;  ///< how far the nursery may be used
  bool over = false;               ///< ended by an allocation beyond the promise
};

/// A piece of nursery that an open cursor allocates in.
struct CursorPiece {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  ///< 0: no piece
  /// How far the cursor may go by itself: the end, or where the next sampled object begins or lies.
  /// Tells the pieces of a mutator apart.
  std::uintptr_t limit = 0;
  std::uintptr_t chosen = MutatorSamples::kNone;  ///< address of the next chosen byte
  std::uint64_t generation = 0;                   ///< of the settings that it was chosen with
};

/// What the collector knows about a mutator beside its public words.
struct MutatorState {
  enum class Status : std::uint8_t {
    kRunning,  ///< may touch managed objects; collections wait for it
    kParked,   ///< between Parked's constructor and destructor
    kStopped   ///< the thread waits, or begins or ends (ThreadAbsence)
  };

  MutatorState() = default;
  ~MutatorState();
  MutatorState(const MutatorState&) = delete;
  MutatorState& operator=(const MutatorState&) = delete;

  Mutator* mutator = nullptr;
  HeapCore* core = nullptr;
  std::string name;
  std::uint64_t thread_id = 0;
  std::uint64_t number = 0;          ///< of the mutators of the heap: seeds differ by it
  Status status = Status::kStopped;  ///< written by its thread under the world's mutex

  std::uintptr_t chunk_end = kEmptyRange;  ///< real end of the nursery chunk; the limit may be less
  std::size_t chunks_to_take = 1;          ///< at the next refill of the nursery chunk
  std::vector<CursorPiece> cursor_pieces;  ///< held by open cursors
  RememberedSet remembered;
  SnapshotLog overwritten;
  MutatorSamples samples;
  YoungLives young;

  Object** slots = nullptr;  ///< base of the slot stack, which is released with the state
  std::size_t slots_bytes = 0;
  std::vector<RootProvider*> providers;
  ZealSchedule zeal;
  NoGcState no_gc;
  std::source_location site;  ///< of the last slow allocation, in checked builds

  MutatorState* next_on_thread = nullptr;
  bool constructing = false;  ///< checked builds: a constructor of a managed object is running
};

// Initial-exec: one load relative to the thread pointer, also inside a shared library.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local MutatorState* t_first_mutator;

/// The mutators of the calling thread, most recent first; nullptr when there is none.
inline MutatorState* first_mutator_of_thread() noexcept { return t_first_mutator; }
/// The mutator of the calling thread in a heap, or nullptr.
MutatorState* mutator_of_thread(const HeapCore* core) noexcept;
void push_mutator_of_thread(MutatorState* state) noexcept;
void remove_mutator_of_thread(MutatorState* state) noexcept;

}  // namespace fallow::detail
