#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "fallow/field.h"
#include "fallow/live.h"
#include "fallow/mutator.h"
#include "fallow/type.h"

namespace fallow {

namespace detail {

template <class T>
constexpr void check_managed_type() {
  static_assert(std::is_base_of_v<Object, T>, "a managed type derives from fallow::Object");
  static_assert(!std::is_polymorphic_v<T>, "a managed type has no virtual functions");
  if constexpr (std::is_base_of_v<Object, T> && !std::is_polymorphic_v<T>) {
    static_assert(offset_of_member<T>(ObjectAccess::kHeaderMember) == 0,
                  "fallow::Object is the first base of a managed type");
  }
  static_assert(std::is_trivially_destructible_v<T> || destruction_of<T>() != Destruction::kNone,
                "a managed type has a trivial destructor, since memory dies without a visit, or "
                "announces it: static constexpr auto kDestruction = Destruction::kWhenDead");
}

/// Before the allocation of an object with a destructor: may throw std::bad_alloc.
void prepare_entry(Mutator& mutator);
/// Behind prepare_entry(): the object's destructor will run.
void register_destructible(Mutator& mutator, Object* object) noexcept;

template <class T>
[[gnu::always_inline]] inline void prepare_type([[maybe_unused]] Mutator& mutator) {
  if constexpr (destruction_of<T>() != Destruction::kNone) prepare_entry(mutator);
}

/// The bump: load free, add, compare with limit, store free. Everything else is the slow path.
template <std::size_t Bytes, std::size_t Alignment, class... Ts>
[[gnu::always_inline]] inline std::uintptr_t allocate_fixed(const MutatorAt& at,
                                                            const Live<Ts...>& live) {
  Mutator& mutator = at.mutator;
  if constexpr (kChecked) check_mutator_use(mutator, "make");
  const auto allocate = [&] {
    if constexpr (kChecked) return allocate_slow_at(mutator, Bytes, Alignment, at.where);
    return allocate_slow(mutator, Bytes, Alignment);
  };
  // The nursery holds no large objects, even where one would fit.
  if constexpr (Bytes > kMaxSmallBytes) return live.across(mutator, allocate);
  std::uintptr_t start = MutatorAccess::free(mutator);
  if constexpr (Alignment > kObjectGranule) start = (start + Alignment - 1) & ~(Alignment - 1);
  const std::uintptr_t next = start + Bytes;
  if (MutatorAccess::is_past_limit(mutator, next)) [[unlikely]] {
    return live.across(mutator, allocate);
  }
  MutatorAccess::free(mutator) = next;
  return start;
}

template <class T, class... Args>
[[gnu::always_inline]] inline NewRef<T> construct(Mutator& mutator, std::uintptr_t memory,
                                                  Args&&... args) {
  [[maybe_unused]] const ConstructionScope<kChecked> scope(mutator);
  T* const object = ::new (reinterpret_cast<void*>(memory)) T(std::forward<Args>(args)...);
  ObjectAccess::set_header(object, reinterpret_cast<std::uintptr_t>(&descriptor_of<T>()));
  if constexpr (destruction_of<T>() != Destruction::kNone) register_destructible(mutator, object);
  return NewRef<T>(object);
}

/// How an argument of make() travels to the constructor: scalars by value, so that one that is a
/// member of a managed object is read before that object may move; all else by reference.
template <class Arg>
using Passed =
    std::conditional_t<std::is_scalar_v<std::remove_cvref_t<Arg>>, std::remove_cvref_t<Arg>, Arg&&>;

template <class T, class... Args>
struct Construction {
  template <class Allocate>
  [[gnu::always_inline]] static NewRef<T> run(Mutator& mutator, const Allocate& allocate,
                                              Args... args) {
    const std::uintptr_t memory = allocate();
    return construct<T>(mutator, memory, std::forward<Args>(args)...);
  }
};

template <class... Args>
constexpr void check_constructor_arguments() {
  static_assert(!(kIsTemporaryRef<Args> || ...),
                "a temporary Ref would be stale in the constructor: name it and list it in "
                "live(...), or pass a Local");
  static_assert(!(kIsField<std::remove_cvref_t<Args>> || ...),
                "the allocation may move the object that this Field belongs to: copy it to a Ref "
                "and list that in live(...), or to a Local");
}

}  // namespace detail

/// Creates a T from `args` in the heap of `mutator`; may collect. Refs named in `live` survive and
/// may be passed on as arguments, and so may Locals; any other Ref is stale afterwards. Scalars are
/// passed by value; an argument of class type that is part of a managed object must be copied
/// first.
///
/// The constructor runs on memory that is not zeroed and must not allocate. Cost: a handful of
/// instructions (DESIGN H2); the slow path is cold and never returns null. Throws OutOfMemory, and
/// whatever the constructor throws (the memory is then garbage). Call on the mutator's thread.
template <class T, class... Ts, class... Args>
[[gnu::always_inline]] inline NewRef<T> make(detail::MutatorAt at, const Live<Ts...>& live,
                                             Args&&... args) {
  detail::check_managed_type<T>();
  detail::check_constructor_arguments<Args&&...>();
  detail::prepare_type<T>(at.mutator);
  constexpr std::size_t alignment = alignof(T) > kObjectGranule ? 16 : kObjectGranule;
  const auto allocate = [&] {
    return detail::allocate_fixed<detail::object_bytes<T>(), alignment>(at, live);
  };
  return detail::Construction<T, detail::Passed<Args>...>::run(at.mutator, allocate,
                                                               std::forward<Args>(args)...);
}

/// The same without Refs to keep.
template <class T, class... Args>
  requires(!(detail::kIsLive<std::remove_cvref_t<Args>> || ...))
[[gnu::always_inline]] inline NewRef<T> make(detail::MutatorAt at, Args&&... args) {
  return make<T>(at, Live<>(), std::forward<Args>(args)...);
}

/// Creates an object of a type built at run time; all bytes behind the header are zero. `length` is
/// the number of items for types with a variable part, else 0. Throws SizeError and OutOfMemory.
[[nodiscard]] NewRef<Object> allocate_object(detail::MutatorAt at, const TypeDescriptor& type,
                                             std::size_t length = 0);

}  // namespace fallow
