#pragma once

#include "fallow/make.h"

namespace fallow {

/// Allocates in a loop with the bump pointers in registers.
///
///     AllocationCursor cursor(mutator);
///     for (…) previous = std::exchange(last, cursor.make<Node>(live(previous, last), …));
///
/// The cursor takes a piece of the mutator's nursery (at most 128 KiB at a time) and gives the rest
/// back when it goes out of scope, or takes the next piece when it is used up; stop requests are
/// served at those points, within some microseconds. Other allocations of the same mutator,
/// collections included, may happen while it is open. Keep it on the stack of one function so that
/// the compiler can hold it in registers. Same errors and rules as make().
class AllocationCursor {
 public:
  [[gnu::always_inline]] explicit AllocationCursor(Mutator& mutator) : mutator_(mutator) {}
  [[gnu::always_inline]] ~AllocationCursor() {
    if (free_ != kEmpty) close(mutator_, free_, limit_);
  }
  AllocationCursor(const AllocationCursor&) = delete;
  AllocationCursor& operator=(const AllocationCursor&) = delete;

  template <class T, class... Ts, class... Args>
  [[gnu::always_inline]] NewRef<T> make(const Live<Ts...>& live, Args&&... args) {
    detail::check_managed_type<T>();
    detail::check_constructor_arguments<Args&&...>();
    static_assert(alignof(T) <= kObjectGranule, "the cursor allocates 8-byte aligned types");
    if constexpr (detail::kChecked) detail::check_mutator_use(mutator_, "AllocationCursor");
    detail::prepare_type<T>(mutator_);
    const auto allocate = [&] { return this->allocate<detail::object_bytes<T>()>(live); };
    return detail::Construction<T, detail::Passed<Args>...>::run(mutator_, allocate,
                                                                 std::forward<Args>(args)...);
  }

  template <class T, class... Args>
    requires(!(detail::kIsLive<std::remove_cvref_t<Args>> || ...))
  [[gnu::always_inline]] NewRef<T> make(Args&&... args) {
    return make<T>(Live<>(), std::forward<Args>(args)...);
  }

 private:
  /// No piece: any size is past the limit, and no piece begins here.
  static constexpr std::uintptr_t kEmpty = 16;

  struct Piece {
    std::uintptr_t object;
    std::uintptr_t free;
    std::uintptr_t limit;
  };

  template <std::size_t Bytes, class... Ts>
  [[gnu::always_inline]] std::uintptr_t allocate(const Live<Ts...>& live) {
    const std::uintptr_t start = free_;
    const std::uintptr_t next = start + Bytes;
    if (next > limit_ || Bytes > detail::kMaxSmallBytes) [[unlikely]] {
      // The piece is no longer the cursor's should the allocation throw. Nothing here takes the
      // address of the cursor, whose members would then leave their registers.
      const std::uintptr_t limit = std::exchange(limit_, kEmpty);
      free_ = kEmpty;
      const Piece piece = live.across(mutator_, [&mutator = mutator_, start, limit] {
        return refill(mutator, Bytes, start, limit);
      });
      free_ = piece.free;
      limit_ = piece.limit;
      return piece.object;
    }
    free_ = next;
    return start;
  }

  [[gnu::cold, gnu::noinline]] static Piece refill(Mutator& mutator, std::size_t bytes,
                                                   std::uintptr_t free, std::uintptr_t limit);
  static void close(Mutator& mutator, std::uintptr_t free, std::uintptr_t limit) noexcept;

  Mutator& mutator_;
  std::uintptr_t free_ = kEmpty;
  std::uintptr_t limit_ = kEmpty;
};

}  // namespace fallow
