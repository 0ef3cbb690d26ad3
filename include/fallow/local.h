#pragma once

#include <cstddef>

#include "fallow/mutator.h"
#include "fallow/ref.h"

namespace fallow {

/// A rooted local variable: keeps its object alive and follows it when it moves.
///
///     Local<Node> root(mutator, make<Node>(mutator));
///
/// Locals live on the C++ stack, are destroyed in reverse order of creation (scopes do that), and
/// belong to one mutator. A Local takes one slot of the mutator's slot stack: a store to create, a
/// store to destroy, no list. Throws SlotStackOverflow when the slot stack is full. Checked builds
/// stop the program when the order or the thread is wrong.
template <class T>
class Local {
 public:
  explicit Local(Mutator& mutator) : Local(mutator, Ref<T>()) {}
  Local(Mutator& mutator, const Ref<T>& value) : mutator_(mutator), slot_(mutator.slot_top_) {
    if constexpr (detail::kChecked) detail::check_mutator_use(mutator, "Local");
    if (slot_ == mutator.slot_end_) [[unlikely]]
      detail::throw_slot_stack_overflow(mutator);
    *slot_ = to_object(value.get());
    mutator.slot_top_ = slot_ + 1;
  }
  ~Local() {
    if constexpr (detail::kChecked) {
      if (mutator_.slot_top_ != slot_ + 1) detail::local_out_of_order();
    }
    mutator_.slot_top_ = slot_;
  }
  Local(const Local&) = delete;
  void* operator new(std::size_t) = delete;
  void* operator new[](std::size_t) = delete;

  Local& operator=(const Ref<T>& value) noexcept {
    *slot_ = to_object(value.get());
    return *this;
  }
  Local& operator=(const Local& other) noexcept {  // NOLINT(bugprone-unhandled-self-assignment)
    *slot_ = *other.slot_;
    return *this;
  }
  Local& operator=(std::nullptr_t) noexcept {
    *slot_ = nullptr;
    return *this;
  }

  [[nodiscard]] Ref<T> get() const noexcept { return Ref<T>(pointer()); }
  operator Ref<T>() const noexcept { return get(); }  // NOLINT(google-explicit-constructor)
  /// Upcasts as Ref does.
  template <class U>
    requires(std::derived_from<T, U> && !std::same_as<T, U>)
  operator Ref<U>() const noexcept {  // NOLINT(google-explicit-constructor)
    return Ref<U>(get());
  }
  T* operator->() const noexcept { return pointer(); }
  T& operator*() const noexcept { return *pointer(); }
  explicit operator bool() const noexcept { return *slot_ != nullptr; }
  friend bool operator==(const Local& left, const Local& right) noexcept {
    return *left.slot_ == *right.slot_;
  }
  friend bool operator==(const Local& local, const Ref<T>& ref) noexcept {
    return local.get() == ref;
  }
  friend bool operator==(const Local& local, std::nullptr_t) noexcept { return !local; }

 private:
  static Object* to_object(T* value) noexcept { return reinterpret_cast<Object*>(value); }
  T* pointer() const noexcept { return reinterpret_cast<T*>(*slot_); }

  Mutator& mutator_;
  Object** slot_;
};

}  // namespace fallow
