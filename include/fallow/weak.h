#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include "fallow/make.h"

namespace fallow {

class Heap;

namespace detail {

class DeliveryQueue;
class HeapCore;

inline constexpr std::size_t kWeakTargetOffset = 8;

/// Only the library creates objects of its kinds.
struct KindKey {};

/// Behind prepare_entry().
void register_weak(Mutator& mutator, Object* weak, DeliveryQueue* queue) noexcept;

/// While some heap marks: keeps `target` for this cycle; null if it is found dead already.
[[gnu::noinline]] Object* read_weak(Object* target) noexcept;

/// A place in a heap where the collector leaves objects for the program.
class Deliveries {
 public:
  explicit Deliveries(Heap& heap);
  ~Deliveries();
  Deliveries(const Deliveries&) = delete;
  Deliveries& operator=(const Deliveries&) = delete;

  /// Objects that wait. Any thread.
  [[nodiscard]] std::size_t pending() const noexcept;
  /// `listener` is called after a collection that has added something, on the thread that
  /// collected, when the mutators run again. It must not use the heap and not throw: it wakes
  /// whoever drains the queue. Not to be called while that thread may be calling it.
  void on_pending(std::function<void()> listener);

 protected:
  /// Null when nothing waits.
  Object* take(Mutator& mutator) noexcept;

  HeapCore& core_;
  DeliveryQueue& queue_;
};

}  // namespace detail

template <class T>
class WeakQueue;

/// A weak reference: a small managed object (24 bytes) that refers to its target without keeping it
/// alive, and is null as soon as the target is found dead, before any finalizer is delivered.
///
///     Local<Weak<Node>> weak(mutator, make_weak(mutator, node));
///     if (Ref<Node> node = weak->get()) …
///
/// Young and old ones may refer to young and old targets; both may be held in Fields, Locals and
/// Globals. A weak reference that dies costs nothing more. An entry of 32 bytes outside the heap
/// belongs to each that is not cleared.
template <class T>
class Weak : public Object {
 public:
  Weak(detail::KindKey, const Ref<T>& target, std::uint64_t tag) noexcept
      : target_(reinterpret_cast<Object*>(target.get())), tag_(tag) {}

  /// The target, or null when it is dead. During a full collection it keeps the target until the
  /// next one. O(1).
  [[nodiscard]] Ref<T> get() const noexcept {
    Object* target = target_.load(std::memory_order_relaxed);
    if (target != nullptr && detail::g_barrier_range.record_span.load(std::memory_order_relaxed) ==
                                 std::numeric_limits<std::uintptr_t>::max()) [[unlikely]] {
      target = detail::read_weak(target);
    }
    return Ref<T>(reinterpret_cast<T*>(target));
  }
  /// The number that make_weak() was given.
  [[nodiscard]] std::uint64_t tag() const noexcept { return tag_; }
  /// Makes it null; it is not delivered to its queue.
  void clear() noexcept { target_.store(nullptr, std::memory_order_relaxed); }

  static constexpr TypeDescriptor describe() noexcept {
    TypeDescriptor type;
    type.fixed_bytes = 24;
    type.size_class = detail::size_class_of(24);
    type.kind = TypeDescriptor::Kind::kWeak;
    type.name = "fallow::Weak";
    return type;
  }

 private:
  detail::Slot target_;
  std::uint64_t tag_;
};

/// Weak references whose targets have died, for programs that have something to do then.
///
/// Collections only put them here; the program takes them out when and where it likes, so that
/// nothing runs inside the collector. A weak reference that is dead itself is not delivered, nor is
/// one that the program has cleared. Thread-safe; must be destroyed before its heap.
template <class T>
class WeakQueue : public detail::Deliveries {
 public:
  explicit WeakQueue(Heap& heap) : Deliveries(heap) {}

  /// The next cleared weak reference, in the order of their clearing within a collection; null when
  /// none waits. O(1).
  [[nodiscard]] Ref<Weak<T>> next(Mutator& mutator) noexcept {
    return Ref<Weak<T>>(reinterpret_cast<Weak<T>*>(take(mutator)));
  }

 private:
  template <class U>
  friend NewRef<Weak<U>> make_weak(detail::MutatorAt, const Ref<U>&, WeakQueue<U>&, std::uint64_t);
};

namespace detail {
template <class T>
NewRef<Weak<T>> make_weak_in(MutatorAt at, const Ref<T>& target, DeliveryQueue* queue,
                             std::uint64_t tag) {
  prepare_entry(at.mutator);
  Ref<T> kept = target;
  NewRef<Weak<T>> weak = make<Weak<T>>(at, live(kept), KindKey{}, kept, tag);
  register_weak(at.mutator, reinterpret_cast<Object*>(weak.get()), queue);
  return weak;
}
}  // namespace detail

/// A weak reference to `target`, which may be null. May collect: other Refs to the target are stale
/// afterwards. Throws OutOfMemory and std::bad_alloc.
template <class T>
NewRef<Weak<T>> make_weak(detail::MutatorAt at, const Ref<T>& target) {
  return detail::make_weak_in(at, target, nullptr, 0);
}
/// The same; when the target dies the weak reference comes to `queue`, where `tag` says which it
/// is.
template <class T>
NewRef<Weak<T>> make_weak(detail::MutatorAt at, const Ref<T>& target, WeakQueue<T>& queue,
                          std::uint64_t tag = 0) {
  return detail::make_weak_in(at, target, &queue.queue_, tag);
}

}  // namespace fallow
