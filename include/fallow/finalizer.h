#pragma once

#include "fallow/weak.h"

namespace fallow {

namespace detail {
/// False if the object is registered already.
bool register_finalizer(Mutator& mutator, Object* object, DeliveryQueue& queue);
bool unregister_finalizer(Object* object) noexcept;
}  // namespace detail

/// Objects that have died and want something to be done before their memory is gone.
///
///     fallow::FinalizerQueue<Connection> lost(heap);
///     lost.add(mutator, connection);
///     while (Ref<Connection> each = lost.next(mutator)) close(each);
///
/// A program has one queue for each class of use, and drains it when and where it likes: nothing
/// runs inside an allocation or the collector. When a collection finds a registered object dead, it
/// keeps it with all that it refers to and puts it here, once: to hear of it again, register it
/// again. The program may keep it for good. An object comes before what it refers to, also
/// indirectly, if both were found dead by the same collection, unless it is part of a cycle of
/// references; a chain of any length comes in one collection. An object that dies young is
/// delivered by the minor collection. Weak references to all that was found dead are null by then,
/// and what is kept only for finalization does not count when the next full collection is
/// scheduled.
///
/// Registering costs an entry of 32 bytes outside the heap. The end of the queue or the heap
/// forgets what was not delivered. Thread-safe; must be destroyed before its heap. After Dybvig,
/// Bruggeman and Eby (guardians, 1993), with the order of PyPy's finalizers.
template <class T>
class FinalizerQueue : public detail::Deliveries {
 public:
  explicit FinalizerQueue(Heap& heap) : Deliveries(heap) {}

  /// Registers an object of the mutator's heap. False, and nothing is changed, when it is
  /// registered with this or another queue. Throws std::bad_alloc. O(1), does not collect.
  bool add(Mutator& mutator, const Ref<T>& object) {
    return detail::register_finalizer(mutator, reinterpret_cast<Object*>(object.get()), queue_);
  }
  /// Takes a registration back; false when there was none. O(1).
  static bool remove(const Ref<T>& object) noexcept {
    return detail::unregister_finalizer(reinterpret_cast<Object*>(object.get()));
  }
  /// The next dead object, which lives again as long as the program keeps it; null when none waits.
  /// O(1).
  [[nodiscard]] Ref<T> next(Mutator& mutator) noexcept {
    return Ref<T>(reinterpret_cast<T*>(take(mutator)));
  }
};

}  // namespace fallow
