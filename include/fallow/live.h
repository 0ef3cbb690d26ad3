#pragma once

#include <tuple>
#include <utility>

#include "fallow/mutator.h"
#include "fallow/ref.h"

namespace fallow {

/// The Refs that must survive an allocation, see live().
template <class... Ts>
class Live {
 public:
  explicit Live(Ref<Ts>&... refs) noexcept : refs_(refs...) {}

  /// Runs `allocate` (which may collect) with the Refs in slots, and reloads them afterwards.
  template <class Allocate>
  [[gnu::always_inline]] auto across(Mutator& mutator, Allocate&& allocate) const {
    return across_indexed(mutator, std::forward<Allocate>(allocate),
                          std::index_sequence_for<Ts...>());
  }

 private:
  /// Reloads the Refs and takes the slots back, also when the allocation throws.
  template <std::size_t... Is>
  struct SlotScope {
    const Live& live;
    Mutator& mutator;
    Object** base;
    [[gnu::always_inline]] ~SlotScope() {  // a call would keep the Refs in memory on the fast path
      ((std::get<Is>(live.refs_) = Ref<Ts>(reinterpret_cast<Ts*>(base[Is]))), ...);
      detail::MutatorAccess::slot_top(mutator) = base;
    }
  };

  template <class Allocate, std::size_t... Is>
  [[gnu::always_inline]] auto across_indexed(Mutator& mutator, Allocate&& allocate,
                                             std::index_sequence<Is...>) const {
    using Access = detail::MutatorAccess;
    Object** const base = Access::slot_top(mutator);
    if (Access::slot_end(mutator) - base < static_cast<std::ptrdiff_t>(sizeof...(Ts)))
        [[unlikely]] {
      detail::throw_slot_stack_overflow(mutator);
    }
    ((base[Is] = reinterpret_cast<Object*>(std::get<Is>(refs_).get())), ...);
    Access::slot_top(mutator) = base + sizeof...(Ts);
    const SlotScope<Is...> scope{*this, mutator, base};
    return allocate();
  }

  std::tuple<Ref<Ts>&...> refs_;
};

/// Names the Refs that are needed after an allocation: `make<Node>(mutator, live(left, right), …)`.
/// They stay in registers; only when the allocation leaves its fast path are they written to slots
/// and read back, updated, afterwards. Cheaper than Local inside loops.
template <class... Ts>
[[nodiscard, gnu::always_inline]] inline Live<Ts...> live(Ref<Ts>&... refs) noexcept {
  return Live<Ts...>(refs...);
}

namespace detail {
template <class T>
inline constexpr bool kIsLive = false;
template <class... Ts>
inline constexpr bool kIsLive<Live<Ts...>> = true;

template <class T>
inline constexpr bool kIsRef = false;
template <class T>
inline constexpr bool kIsRef<Ref<T>> = true;
template <class T>
inline constexpr bool kIsRef<NewRef<T>> = true;

/// A temporary Ref as a constructor argument could go stale before the constructor runs.
template <class Arg>
inline constexpr bool kIsTemporaryRef =
    !std::is_lvalue_reference_v<Arg> && kIsRef<std::remove_cvref_t<Arg>>;
}  // namespace detail

}  // namespace fallow
