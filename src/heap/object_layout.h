#pragma once

#include <cstddef>
#include <cstdint>

#include "fallow/array.h"
#include "fallow/type.h"

namespace fallow::detail {

inline std::uint64_t item_count(const Object* object, const TypeDescriptor& type) noexcept {
  return *reinterpret_cast<const std::uint64_t*>(reinterpret_cast<std::uintptr_t>(object) +
                                                 type.length_offset);
}

/// Bytes of an object, header included, a multiple of 8.
inline std::size_t object_size(const Object* object, const TypeDescriptor& type) noexcept {
  if (type.items == TypeDescriptor::Items::kNone) [[likely]]
    return type.fixed_bytes;
  const std::size_t count = item_count(object, type);
  std::size_t bytes = type.fixed_bytes + count * type.item_bytes;
  if (type.items == TypeDescriptor::Items::kReferences) bytes += card_count(count);
  bytes = (bytes + kObjectGranule - 1) & ~(kObjectGranule - 1);
  return bytes < kMinimumObjectBytes ? kMinimumObjectBytes : bytes;
}

inline Object** word_at(Object* object, std::size_t offset) noexcept {
  return reinterpret_cast<Object**>(reinterpret_cast<std::uintptr_t>(object) + offset);
}

/// Calls visit(slot) for the references of the fixed part.
template <class Visit>
[[gnu::always_inline]] inline void visit_fixed_references(Object* object,
                                                          const TypeDescriptor& type,
                                                          Visit& visit) {
  if (type.bitmap_is_complete) [[likely]] {
    auto* const words = reinterpret_cast<Object**>(object);
    for (std::uint64_t bits = type.reference_bitmap; bits != 0; bits &= bits - 1) {
      visit(&words[__builtin_ctzll(bits)]);
    }
  } else if (type.trace != nullptr) {
    type.trace(object, SlotVisitor([](void* context,
                                      Object** slot) { (*static_cast<Visit*>(context))(slot); },
                                   &visit));
  } else {
    for (std::uint32_t i = 0; i < type.reference_count; ++i) {
      visit(word_at(object, type.reference_offsets[i]));
    }
  }
}

/// Calls visit(slot) for the references in items [first, last).
template <class Visit>
inline void visit_item_references(Object* object, const TypeDescriptor& type, std::size_t first,
                                  std::size_t last, Visit& visit) {
  if (type.items == TypeDescriptor::Items::kReferences) {
    Object** const items = word_at(object, type.fixed_bytes);
    for (std::size_t i = first; i < last; ++i) visit(&items[i]);
  } else if (type.items == TypeDescriptor::Items::kRecords) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t record = type.fixed_bytes + i * type.item_bytes;
      for (std::uint32_t k = 0; k < type.item_reference_count; ++k) {
        visit(word_at(object, record + type.item_reference_offsets[k]));
      }
    }
  }
}

/// Calls visit(slot) for all references of an object.
template <class Visit>
[[gnu::always_inline]] inline void visit_references(Object* object, const TypeDescriptor& type,
                                                    Visit& visit) {
  visit_fixed_references(object, type, visit);
  if (type.items != TypeDescriptor::Items::kNone) [[unlikely]] {
    visit_item_references(object, type, 0, item_count(object, type), visit);
  }
}

}  // namespace fallow::detail
