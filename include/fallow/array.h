#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "fallow/detail/barrier.h"
#include "fallow/make.h"

namespace fallow {

/// The largest object, in bytes: lengths that lead beyond it are a SizeError.
inline constexpr std::size_t kMaxObjectBytes = std::size_t{1} << 46;

/// Common layout of arrays: header, 64-bit length, items.
class ArrayBase : public Object {
 public:
  [[nodiscard]] std::size_t length() const noexcept { return length_; }

  static constexpr std::size_t kLengthOffset = 8;
  static constexpr std::size_t kItemsOffset = 16;

 protected:
  explicit ArrayBase(std::size_t length) noexcept : length_(length) {}
  void check_range(std::size_t first, std::size_t count) const {
    if constexpr (detail::kChecked) detail::check_not_moved(this);
    if (first > length_ || count > length_ - first) [[unlikely]]
      throw_range(first, count, length_);
  }

 private:
  [[noreturn, gnu::cold]] static void throw_range(std::size_t first, std::size_t count,
                                                  std::size_t length);
  std::uint64_t length_;
};

namespace detail {

template <class T>
constexpr void refuse_new_object() {
  static_assert(
      kNever<T>,
      "array->set(i, make<T>(…)) or fill finds the array before make<T> may move it: store "
      "the new object in a Ref first");
}

/// Reference arrays longer than this carry one card byte per kCardItems items behind the items, so
/// that a minor collection looks at dirty cards only. Shorter ones record single slots.
inline constexpr std::size_t kCardItems = 128;

constexpr std::size_t card_count(std::size_t length) noexcept {
  return length <= kCardItems ? 0 : (length + kCardItems - 1) / kCardItems;
}
constexpr std::size_t reference_array_bytes(std::size_t length) noexcept {
  const std::size_t bytes = ArrayBase::kItemsOffset + length * sizeof(Slot) + card_count(length);
  return (bytes + kObjectGranule - 1) & ~(kObjectGranule - 1);
}

/// Items and barriers of an array of references, without the item type.
class ReferenceArray : public ArrayBase {
 public:
  static constexpr TypeDescriptor describe_array(std::string_view name) noexcept {
    TypeDescriptor type;
    type.fixed_bytes = kItemsOffset;
    type.item_bytes = sizeof(Slot);
    type.items = TypeDescriptor::Items::kReferences;
    type.has_references = true;
    type.length_offset = kLengthOffset;
    type.name = name;
    return type;
  }

 protected:
  explicit ReferenceArray(std::size_t length) noexcept : ArrayBase(length) {
    std::memset(static_cast<void*>(items()), 0, reference_array_bytes(length) - kItemsOffset);
  }
  [[nodiscard]] Slot* items() const noexcept {
    return reinterpret_cast<Slot*>(reinterpret_cast<std::uintptr_t>(this) + kItemsOffset);
  }
  void store(std::size_t index, Object* value) noexcept {
    if constexpr (kChecked) check_not_moved(this);
    Slot& slot = items()[index];
    Object* const overwritten = slot.load(std::memory_order_relaxed);
    slot.store(value, std::memory_order_release);
    if (reinterpret_cast<std::uintptr_t>(value) - g_barrier_range.base <
            g_barrier_range.record_span.load(std::memory_order_relaxed) &&
        !in_nursery(this)) [[unlikely]] {
      record_array_store(index, overwritten, value);
    }
  }
  /// Bulk operations with one barrier for the range, correct in every collector state.
  void copy_items(std::size_t to, const ReferenceArray& source, std::size_t from,
                  std::size_t count) noexcept;
  void fill_items(std::size_t first, std::size_t count, Object* value) noexcept;

 private:
  [[gnu::noinline]] void record_array_store(std::size_t index, Object* overwritten,
                                            Object* value) noexcept;
};

}  // namespace detail

/// A fixed-length array of references to T, all null at first.
///
///     Local<Array<Node>> nodes(mutator, make_array<Node>(mutator, 100));
///     nodes->set(3, node);   Ref<Node> third = nodes->get(3);
///
/// get and set check the index and throw RangeError. Element access is relaxed atomic. O(1) each.
template <class T>
class Array : public detail::ReferenceArray {
 public:
  [[nodiscard]] Ref<T> get(std::size_t index) const {
    check_range(index, 1);
    return get_unchecked(index);
  }
  void set(std::size_t index, const Ref<T>& value) {
    check_range(index, 1);
    set_unchecked(index, value);
  }
  void set(std::size_t index, std::nullptr_t) { set(index, Ref<T>()); }
  /// Refused: C++ looks the array up before it runs the allocation in the arguments, which may move
  /// the array. Name the new object first.
  template <class U>
  void set(std::size_t, NewRef<U>&&) {
    detail::refuse_new_object<U>();
  }
  template <class U>
  void set_unchecked(std::size_t, NewRef<U>&&) {
    detail::refuse_new_object<U>();
  }
  template <class U>
  void fill(std::size_t, std::size_t, NewRef<U>&&) {
    detail::refuse_new_object<U>();
  }

  /// The same for an index known to be below length().
  [[nodiscard]] Ref<T> get_unchecked(std::size_t index) const noexcept {
    return Ref<T>(reinterpret_cast<T*>(items()[index].load(std::memory_order_relaxed)));
  }
  void set_unchecked(std::size_t index, const Ref<T>& value) noexcept {
    store(index, reinterpret_cast<Object*>(value.get()));
  }

  /// Copies `count` references from source[from…] to this[to…]. The ranges may overlap, also within
  /// one array. Throws RangeError before anything is copied. O(count).
  void copy_from(std::size_t to, const Ref<Array>& source, std::size_t from, std::size_t count) {
    check_range(to, count);
    source->check_range(from, count);
    copy_items(to, *source, from, count);
  }
  /// Stores `value` into `count` items. Throws RangeError. O(count).
  void fill(std::size_t first, std::size_t count, const Ref<T>& value) {
    check_range(first, count);
    fill_items(first, count, reinterpret_cast<Object*>(value.get()));
  }

  static constexpr TypeDescriptor describe() noexcept {
    return describe_array(detail::type_name<Array>());
  }

 private:
  template <class U, class... Us>
  friend NewRef<Array<U>> make_array(detail::MutatorAt at, const Live<Us...>& live,
                                     std::size_t length);
  explicit Array(std::size_t length) noexcept : ReferenceArray(length) {}
};

/// A fixed-length array of plain values. Items are not initialised unless a fill value is given.
template <class V>
class ValueArray : public ArrayBase {
 public:
  static_assert(std::is_trivially_copyable_v<V> && alignof(V) <= 8,
                "value arrays hold trivially copyable items aligned to at most 8 bytes");

  [[nodiscard]] V* data() noexcept { return reinterpret_cast<V*>(address()); }
  [[nodiscard]] const V* data() const noexcept { return reinterpret_cast<const V*>(address()); }
  /// Valid as long as a Ref would be.
  [[nodiscard]] std::span<V> items() noexcept { return {data(), length()}; }
  [[nodiscard]] std::span<const V> items() const noexcept { return {data(), length()}; }
  [[nodiscard]] V get(std::size_t index) const {
    check_range(index, 1);
    return data()[index];
  }
  void set(std::size_t index, V value) {
    check_range(index, 1);
    data()[index] = value;
  }

  static constexpr TypeDescriptor describe() noexcept {
    TypeDescriptor type;
    type.fixed_bytes = kItemsOffset;
    type.item_bytes = sizeof(V);
    type.items = TypeDescriptor::Items::kValues;
    type.length_offset = kLengthOffset;
    type.name = detail::type_name<ValueArray>();
    return type;
  }

 protected:
  template <class A, class... Us>
  friend NewRef<A> make_values(detail::MutatorAt at, const Live<Us...>& live, std::size_t length);
  explicit ValueArray(std::size_t length) noexcept : ArrayBase(length) {}

 private:
  [[nodiscard]] std::uintptr_t address() const noexcept {
    return reinterpret_cast<std::uintptr_t>(this) + kItemsOffset;
  }
};

/// An immutable string of bytes (any content, no terminator).
class String : public ValueArray<char> {
 public:
  [[nodiscard]] const char* data() const noexcept { return ValueArray<char>::data(); }
  [[nodiscard]] std::span<const char> items() const noexcept { return {data(), length()}; }
  void set(std::size_t index, char value) = delete;
  /// Valid as long as a Ref would be.
  [[nodiscard]] std::string_view view() const noexcept { return {data(), length()}; }

  static constexpr TypeDescriptor describe() noexcept {
    TypeDescriptor type = ValueArray<char>::describe();
    type.name = "fallow::String";
    return type;
  }

 private:
  template <class A, class... Us>
  friend NewRef<A> make_values(detail::MutatorAt at, const Live<Us...>& live, std::size_t length);
  explicit String(std::size_t length) noexcept : ValueArray<char>(length) {}
};

namespace detail {

/// Bytes of an array, or kMaxObjectBytes + 1 when no such array can exist.
constexpr std::size_t array_bytes(std::size_t length, std::size_t item_bytes,
                                  bool references) noexcept {
  if (length > kMaxObjectBytes / item_bytes) return kMaxObjectBytes + 1;
  const std::size_t bytes =
      references ? reference_array_bytes(length)
                 : (ArrayBase::kItemsOffset + length * item_bytes + kObjectGranule - 1) &
                       ~(kObjectGranule - 1);
  return bytes;
}

/// The bump for a size known at run time: sizes that could wrap never reach the addition.
template <class... Ts>
[[gnu::always_inline]] inline std::uintptr_t allocate_array_memory(const MutatorAt& at,
                                                                   const Live<Ts...>& live,
                                                                   std::size_t length,
                                                                   std::size_t item_bytes,
                                                                   bool references) {
  Mutator& mutator = at.mutator;
  if constexpr (kChecked) check_mutator_use(mutator, "make_array");
  const std::size_t bytes = array_bytes(length, item_bytes, references);
  const std::uintptr_t start = MutatorAccess::free(mutator);
  if (bytes > kMaxSmallBytes || MutatorAccess::is_past_limit(mutator, start + bytes)) [[unlikely]] {
    if (bytes > kMaxObjectBytes) throw_size_error(length, item_bytes);
    return live.across(mutator, [&] {
      if constexpr (kChecked) return allocate_slow_at(mutator, bytes, kObjectGranule, at.where);
      return allocate_slow(mutator, bytes, kObjectGranule);
    });
  }
  MutatorAccess::free(mutator) = start + bytes;
  return start;
}

}  // namespace detail

/// Creates an array of `length` null references. May collect. Throws SizeError, OutOfMemory.
/// O(length).
template <class T, class... Us>
NewRef<Array<T>> make_array(detail::MutatorAt at, const Live<Us...>& live, std::size_t length) {
  const std::uintptr_t memory =
      detail::allocate_array_memory(at, live, length, sizeof(detail::Slot), true);
  auto* const array = ::new (reinterpret_cast<void*>(memory)) Array<T>(length);
  detail::ObjectAccess::set_header(array,
                                   reinterpret_cast<std::uintptr_t>(&descriptor_of<Array<T>>()));
  return NewRef<Array<T>>(array);
}
template <class T>
NewRef<Array<T>> make_array(detail::MutatorAt at, std::size_t length) {
  return make_array<T>(at, Live<>(), length);
}

/// Creates an array class of values (ValueArray<V>, String) with uninitialised items.
template <class A, class... Us>
NewRef<A> make_values(detail::MutatorAt at, const Live<Us...>& live, std::size_t length) {
  constexpr std::size_t item_bytes = A::describe().item_bytes;
  const std::uintptr_t memory = detail::allocate_array_memory(at, live, length, item_bytes, false);
  auto* const array = ::new (reinterpret_cast<void*>(memory)) A(length);
  detail::ObjectAccess::set_header(array, reinterpret_cast<std::uintptr_t>(&descriptor_of<A>()));
  return NewRef<A>(array);
}
template <class A>
NewRef<A> make_values(detail::MutatorAt at, std::size_t length) {
  return make_values<A>(at, Live<>(), length);
}

/// Creates a String with a copy of `text`, which must not lie in the managed heap. May collect.
template <class... Us>
NewRef<String> make_string(detail::MutatorAt at, const Live<Us...>& live, std::string_view text) {
  NewRef<String> string = make_values<String>(at, live, text.size());
  if (!text.empty())
    std::memcpy(static_cast<ValueArray<char>&>(*string).data(), text.data(), text.size());
  return string;
}
inline NewRef<String> make_string(detail::MutatorAt at, std::string_view text) {
  return make_string(at, Live<>(), text);
}

}  // namespace fallow
