#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string_view>

#include "fallow/detail/build_config.h"
#include "fallow/detail/offset_of.h"
#include "fallow/object.h"

namespace fallow {

class Heap;

namespace detail {
class HeapCore;
struct MutatorState;
struct MutatorAccess;
}  // namespace detail

/// A thread's access to a heap. Every thread that touches managed objects owns a Mutator of that
/// heap (one is enough) and passes it explicitly; there is no hidden thread-local lookup on any
/// fast path.
///
///     fallow::Mutator mutator(heap, "worker 1");
///
/// A Mutator is used by the thread that created it, and by no other. While it exists the collector
/// waits for it: code that blocks or computes for long without allocating must park (see Parked) or
/// poll(). The first two words are public (fallow/jit.h).
class Mutator {
 public:
  /// Attaches the calling thread. Waits while a collection runs. `name` is used in diagnostics.
  /// Throws StartupError if the slot stack cannot be reserved.
  explicit Mutator(Heap& heap, std::string_view name = {});
  /// Detaches. All Locals of this mutator must be gone. Waits while a collection runs.
  ~Mutator();
  Mutator(const Mutator&) = delete;
  Mutator& operator=(const Mutator&) = delete;

  /// Lets a collection that another thread has requested run now. Costs a load and a compare.
  /// Loops that do not allocate call it once in a while. May collect. A thread that does neither
  /// also delays fork() in other threads.
  void poll() {
    if (is_past_limit(free_)) [[unlikely]]
      poll_slow();
  }

  [[nodiscard]] Heap& heap() const noexcept { return *heap_; }

 private:
  friend struct detail::MutatorAccess;
  friend class AllocationCursor;
  friend class Parked;
  template <class T>
  friend class Local;

  /// Compares with the limit as it is in memory now, since other threads lower it.
  [[gnu::always_inline]] bool is_past_limit(std::uintptr_t next) noexcept {
    if constexpr (detail::kChecked) return next > limit_.load(std::memory_order_relaxed);
    // Compilers keep atomic loads apart from the compare that uses them. This costs no instruction,
    // and the plain load behind it can become an operand of the compare.
    auto& limit = reinterpret_cast<std::uintptr_t&>(limit_);
    asm volatile("" : "+m"(limit));
    return next > limit;
  }

  [[gnu::cold, gnu::noinline]] void poll_slow();

  // The public layout: see fallow/jit.h.
  std::uintptr_t free_;
  std::atomic<std::uintptr_t> limit_;
  Object** slot_top_;
  Object** slot_end_;
  Heap* heap_;
  detail::HeapCore* core_;
  std::unique_ptr<detail::MutatorState> state_;
};

/// While a Parked exists the thread touches no managed object, and collections do not wait for it.
/// Put one around every blocking call. The destructor waits while a collection runs. Locals stay
/// valid; every Ref is stale afterwards. Not nestable: a second one on a parked mutator is an
/// error.
class Parked {
 public:
  /// Throws UsageError if the mutator is parked already.
  explicit Parked(Mutator& mutator);
  ~Parked();
  Parked(const Parked&) = delete;
  Parked& operator=(const Parked&) = delete;

 private:
  Mutator& mutator_;
};

namespace detail {

/// A mutator together with the place of the call, which checked builds report when the allocation
/// there makes a Ref stale.
struct MutatorAt {
  MutatorAt(Mutator& where_to_allocate,  // NOLINT(google-explicit-constructor)
            std::source_location place = std::source_location::current()) noexcept
      : mutator(where_to_allocate), where(place) {}
  Mutator& mutator;
  std::source_location where;
};

/// Access to the words of a Mutator for the inline allocation path.
struct MutatorAccess {
  static std::uintptr_t& free(Mutator& mutator) noexcept { return mutator.free_; }
  static std::atomic<std::uintptr_t>& limit(Mutator& mutator) noexcept { return mutator.limit_; }
  [[gnu::always_inline]] static bool is_past_limit(Mutator& mutator, std::uintptr_t next) noexcept {
    return mutator.is_past_limit(next);
  }
  static Object**& slot_top(Mutator& mutator) noexcept { return mutator.slot_top_; }
  static Object**& slot_end(Mutator& mutator) noexcept { return mutator.slot_end_; }
  static HeapCore& core(Mutator& mutator) noexcept { return *mutator.core_; }
  /// Checked builds only.
  static bool is_detached(const Mutator& mutator) noexcept { return mutator.heap_ == nullptr; }
  static MutatorState& state(Mutator& mutator) noexcept { return *mutator.state_; }
  static consteval std::size_t free_offset() { return offset_of_member<Mutator>(&Mutator::free_); }
  static consteval std::size_t limit_offset() {
    return offset_of_member<Mutator>(&Mutator::limit_);
  }
};

/// Memory for an object of `bytes` (a multiple of 8, at least 16) when the bump failed: serves stop
/// requests, collects, takes a fresh piece of nursery or a large object. Never null. Throws
/// OutOfMemory. The memory is not initialised.
[[gnu::cold, gnu::noinline]] std::uintptr_t allocate_slow(Mutator& mutator, std::size_t bytes,
                                                          std::size_t alignment);
/// The same, with the place recorded for checked builds.
[[gnu::cold, gnu::noinline]] std::uintptr_t allocate_slow_at(Mutator& mutator, std::size_t bytes,
                                                             std::size_t alignment,
                                                             const std::source_location& where);
[[noreturn, gnu::cold, gnu::noinline]] void throw_slot_stack_overflow(Mutator& mutator);
[[noreturn, gnu::cold, gnu::noinline]] void throw_size_error(std::size_t length,
                                                             std::size_t item_bytes);
/// Checked builds: stops the program unless the calling thread owns the mutator and may allocate.
void check_mutator_use(Mutator& mutator, const char* operation) noexcept;
/// Checked builds: notes that a constructor of a managed object runs or has ended.
void set_constructing(Mutator& mutator, bool constructing) noexcept;

/// While a constructor of a managed object runs, checked builds refuse every use of a
/// mutator of the thread.
template <bool Checked>
class ConstructionScope {
 public:
  explicit ConstructionScope(Mutator& mutator) noexcept : mutator_(mutator) {
    set_constructing(mutator, true);
  }
  ~ConstructionScope() { set_constructing(mutator_, false); }
  ConstructionScope(const ConstructionScope&) = delete;
  ConstructionScope& operator=(const ConstructionScope&) = delete;

 private:
  Mutator& mutator_;
};
template <>
class ConstructionScope<false> {
 public:
  explicit ConstructionScope(Mutator&) noexcept {}
};

/// Checked builds: stops the program when a Local is destroyed out of order.
[[noreturn, gnu::cold]] void local_out_of_order() noexcept;

}  // namespace detail
}  // namespace fallow
