#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fallow/destruction.h"
#include "fallow/detail/offset_of.h"
#include "fallow/detail/size_classes.h"
#include "fallow/detail/type_name.h"
#include "fallow/object.h"

namespace fallow {

/// Receives the reference slots of one object from a custom trace function.
///
/// `visit` may be called on each slot once, in any order; slots may hold null. The collector may
/// change a slot during the call. A trace function must not allocate, throw, or touch other
/// managed objects: they may be half moved. With HeapOptions::marker_threads it also runs beside
/// the program, so what tells it where the slots are must not change, or be atomic.
class SlotVisitor {
 public:
  using Function = void (*)(void* context, Object** slot);
  SlotVisitor(Function function, void* context) noexcept : function_(function), context_(context) {}
  void visit(Object** slot) const { function_(context_, slot); }
  /// Accepts a Field<T>.
  template <class FieldType>
  void operator()(FieldType& field) const {
    visit(field.slot_address());
  }

 private:
  Function function_;
  void* context_;
};

/// Describes the layout of a managed type to the collector. Immutable once objects exist.
///
/// A type has a fixed part (with reference words) and may have a variable part: `length` items
/// behind it, the length being a 64-bit word at `length_offset`. Built at compile time for C++
/// types (descriptor_of<T>), at run time by TypeBuilder for types of a language runtime.
struct alignas(64) TypeDescriptor {
  using TraceFunction = void (*)(Object* object, const SlotVisitor& visitor);
  using DestroyFunction = void (*)(Object* object) noexcept;

  /// Types of the library that the collector treats in a way of their own.
  enum class Kind : std::uint8_t {
    kOrdinary,
    kWeak,      ///< fallow/weak.h
    kEphemeron  ///< fallow/ephemeron.h
  };

  enum class Items : std::uint8_t {
    kNone,        ///< no variable part
    kValues,      ///< items without references
    kReferences,  ///< each item is one reference word
    kRecords      ///< items with reference words at item_reference_offsets
  };

  std::uint64_t reference_bitmap = 0;  ///< bit i: word i of the fixed part is a reference (i < 64)
  std::uint32_t fixed_bytes = 0;       ///< fixed part with header; whole size if no items
  std::uint32_t item_bytes = 0;
  std::uint8_t size_class = detail::kNoSizeClass;  ///< of objects without a variable part
  Items items = Items::kNone;
  bool has_references = false;              ///< false: never scanned
  bool bitmap_is_complete = true;           ///< all references of the fixed part are in the bitmap
  std::uint8_t alignment = kObjectGranule;  ///< 8 or 16
  Kind kind = Kind::kOrdinary;
  Destruction destruction = Destruction::kNone;
  std::uint32_t length_offset = 0;
  std::uint32_t reference_count = 0;
  std::uint32_t item_reference_count = 0;
  const std::uint32_t* reference_offsets = nullptr;  ///< byte offsets, ascending
  const std::uint32_t* item_reference_offsets = nullptr;
  TraceFunction trace =
      nullptr;  ///< reports the references of the fixed part instead of the bitmap
  DestroyFunction destroy = nullptr;  ///< runs when the object is dead; see fallow/destruction.h
  std::string_view name;
};

/// The reference members of a managed type, in any order: Fields and arrays of Fields. Offsets are
/// computed at compile time. Members inherited from a managed base are listed too. A derived type
/// that adds reference members needs a list of its own, since it inherits the one of its base.
template <auto... Members>
struct FieldList {};

namespace detail {

inline constexpr std::size_t kReferenceBytes = sizeof(void*);

template <class T, class List>
struct FieldOffsets;

template <class T, auto... Members>
struct FieldOffsets<T, FieldList<Members...>> {
  static constexpr std::size_t kCount = (field_count(Members) + ... + 0);
  static constexpr auto kOffsets = [] {
    std::array<std::uint32_t, kCount == 0 ? 1 : kCount> offsets{};
    std::size_t next = 0;
    [[maybe_unused]] const auto add = [&](std::size_t offset, std::size_t count) {
      for (; count != 0; --count, offset += kReferenceBytes) {
        offsets[next++] = static_cast<std::uint32_t>(offset);
      }
    };
    (add(offset_of_member<T>(Members), field_count(Members)), ...);
    return offsets;
  }();
};

template <class T>
concept HasFieldList = requires { typename T::Fields; };
template <class T>
concept HasCustomTrace = requires(T& object, const SlotVisitor& visitor) { object.trace(visitor); };
/// Array classes describe themselves.
template <class T>
concept DescribesItself = requires { TypeDescriptor(T::describe()); };
template <class T>
concept HasTypeName = requires { std::string_view(T::kTypeName); };

template <class T>
void trace_custom(Object* object, const SlotVisitor& visitor) {
  static_cast<T*>(object)->trace(visitor);
}

template <class T>
constexpr std::size_t object_bytes() {
  constexpr std::size_t rounded =
      (sizeof(T) + kObjectGranule - 1) / kObjectGranule * kObjectGranule;
  return rounded < kMinimumObjectBytes ? kMinimumObjectBytes : rounded;
}

template <class T>
constexpr TypeDescriptor describe() {
  static_assert(alignof(T) <= 16, "managed types are aligned to at most 16 bytes");
  static_assert(HasFieldList<T> || HasCustomTrace<T>,
                "a managed type lists its reference members: using Fields = FieldList<&T::member, "
                "...>; (FieldList<> if there are none), or has void trace(const SlotVisitor&)");
  TypeDescriptor type;
  type.fixed_bytes = object_bytes<T>();
  type.size_class = size_class_of(object_bytes<T>(), alignof(T) > 8 ? 16 : 8);
  type.alignment = alignof(T) > 8 ? 16 : 8;
  type.destruction = destruction_of<T>();
  if constexpr (destruction_of<T>() != Destruction::kNone) type.destroy = &destroy_object<T>;
  if constexpr (HasTypeName<T>) {
    type.name = T::kTypeName;
  } else {
    type.name = type_name<T>();
  }
  if constexpr (HasCustomTrace<T>) {
    type.trace = &trace_custom<T>;
    type.has_references = true;
    type.bitmap_is_complete = false;
  } else {
    using Offsets = FieldOffsets<T, typename T::Fields>;
    type.reference_offsets = Offsets::kOffsets.data();
    type.reference_count = Offsets::kCount;
    type.has_references = Offsets::kCount != 0;
    for (std::size_t i = 0; i < Offsets::kCount; ++i) {
      const std::size_t word = Offsets::kOffsets[i] / kReferenceBytes;
      if (word < 64) {
        type.reference_bitmap |= std::uint64_t{1} << word;
      } else {
        type.bitmap_is_complete = false;
      }
    }
  }
  return type;
}

template <class T>
constexpr TypeDescriptor describe_type() {
  if constexpr (DescribesItself<T>) {
    return T::describe();
  } else {
    return describe<T>();
  }
}

// Hidden, so that also position-independent code knows its address and keeps it in a register; each
// shared library then has a descriptor of its own for a type, which does no harm.
template <class T>
[[gnu::visibility("hidden")]] inline constexpr TypeDescriptor kDescriptor = describe_type<T>();

}  // namespace detail

/// The descriptor of a C++ type: constant data, usable before main().
template <class T>
constexpr const TypeDescriptor& descriptor_of() noexcept {
  return detail::kDescriptor<T>;
}

/// Builds descriptors at run time, for languages whose types are not C++ types. Sizes and offsets
/// are bytes from the start of the object; the header occupies bytes 0–7.
///
///     auto pair = TypeBuilder("pair").fixed_bytes(24).reference_at(8).reference_at(16).build();
///
/// The result must outlive every heap that holds such objects. Not thread-safe.
class TypeBuilder {
 public:
  explicit TypeBuilder(std::string name);
  ~TypeBuilder();

  /// Size of the fixed part with header, 8 … 1 MiB, a multiple of 8.
  TypeBuilder& fixed_bytes(std::size_t bytes);
  /// A reference word in the fixed part.
  TypeBuilder& reference_at(std::size_t offset);
  /// 16-byte alignment instead of 8.
  TypeBuilder& align16();
  /// Variable part of plain values; the item count is the 64-bit word at `length_offset`.
  TypeBuilder& value_items(std::size_t item_bytes, std::size_t length_offset);
  /// Variable part of references.
  TypeBuilder& reference_items(std::size_t length_offset);
  /// Variable part of records of `item_bytes` with references at the given offsets in each.
  TypeBuilder& record_items(std::size_t item_bytes, std::size_t length_offset,
                            std::vector<std::size_t> reference_offsets);
  /// A function that runs when an object of the type is dead, under the rules of
  /// fallow/destruction.h.
  TypeBuilder& destructor(TypeDescriptor::DestroyFunction destroy, Destruction destruction);
  /// A function that reports the references of the fixed part.
  TypeBuilder& custom_trace(TypeDescriptor::TraceFunction trace);

  /// A descriptor with the storage that it points to.
  class Type {
   public:
    [[nodiscard]] const TypeDescriptor& descriptor() const noexcept { return descriptor_; }

   private:
    friend class TypeBuilder;
    TypeDescriptor descriptor_;
    std::string name_;
    std::vector<std::uint32_t> offsets_;
    std::vector<std::uint32_t> item_offsets_;
  };

  /// Checks the layout and returns the finished type. Throws UsageError for offsets outside the
  /// object, overlapping or unaligned references, and sizes out of range.
  [[nodiscard]] std::unique_ptr<const Type> build() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace fallow
