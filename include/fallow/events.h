#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fallow/step.h"

namespace fallow {

/// Facts of one minor collection.
struct MinorEvent {
  std::uint64_t number;   ///< 1, 2, … in the heap
  std::uint64_t wall_ns;  ///< all mutators stopped
  /// Of the collecting thread. The wall time instead, which is not less, after a collection of less
  /// than 20 µs: reading the CPU clock would take a good part of the next one.
  std::uint64_t cpu_ns;
  std::size_t nursery_bytes;     ///< nursery in use before
  std::size_t surviving_bytes;   ///< promoted, large objects included
  std::size_t remembered_slots;  ///< old slots and cards looked at
  std::size_t used_bytes;        ///< old space and large objects afterwards
};

/// Facts of one step of a full collection, in a pause of its own or after a minor collection.
struct StepEvent {
  CycleState before;
  CycleState after;
  std::uint64_t wall_ns;  ///< all mutators stopped
  std::uint64_t cpu_ns;   ///< of the collecting thread
};

/// Facts of one full collection, when everything is swept.
struct FullEvent {
  std::uint64_t number;
  std::uint64_t wall_ns;  ///< all mutators stopped, in `steps` pauses together
  std::uint64_t cpu_ns;
  std::uint64_t marker_cpu_ns;  ///< of the marker thread, beside the mutators
  std::uint64_t steps;
  std::size_t used_bytes_before;
  std::size_t used_bytes_after;
  std::size_t next_full_at;
};

/// A mutator that did not answer a stop request in time.
struct StuckMutatorEvent {
  std::string_view mutator;  ///< its name
  std::uint64_t thread_id;   ///< of the operating system
  std::uint64_t waited_ns;
};

/// Told about collections, in the order in which they happen. Any number of listeners may be
/// registered (Heap::add_listener). Called one event at a time, on a thread that has just
/// collected, after the mutators have been resumed … except on_stuck_mutator, which is called while
/// the collector waits. A listener must not use the heap, fork or
/// throw.
class EventListener {
 public:
  virtual ~EventListener() = default;
  virtual void on_minor(const MinorEvent&) {}
  virtual void on_step(const StepEvent&) {}
  virtual void on_full(const FullEvent&) {}
  virtual void on_stuck_mutator(const StuckMutatorEvent&) {}
};

}  // namespace fallow
