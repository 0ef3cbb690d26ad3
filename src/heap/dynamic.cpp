#include <cstring>

#include "fallow/array.h"
#include "fallow/errors.h"
#include "fallow/make.h"
#include "heap/object_layout.h"

namespace fallow {

NewRef<Object> allocate_object(detail::MutatorAt at, const TypeDescriptor& type,
                               std::size_t length) {
  const bool has_items = type.items != TypeDescriptor::Items::kNone;
  if (!has_items && length != 0) throw SizeError(length, 0);
  std::size_t bytes = type.fixed_bytes;
  if (has_items) {
    if (type.item_bytes != 0 && length > (kMaxObjectBytes - bytes) / (type.item_bytes + 1)) {
      throw SizeError(length, type.item_bytes);
    }
    bytes += length * type.item_bytes;
    if (type.items == TypeDescriptor::Items::kReferences) bytes += detail::card_count(length);
  }
  bytes = (bytes + kObjectGranule - 1) & ~(kObjectGranule - 1);
  if (bytes < kMinimumObjectBytes) bytes = kMinimumObjectBytes;

  if constexpr (detail::kChecked) detail::check_mutator_use(at.mutator, "allocate_object");
  const bool destructible = type.destruction != Destruction::kNone;
  if (destructible) detail::prepare_entry(at.mutator);
  const std::uintptr_t memory =
      detail::allocate_slow_at(at.mutator, bytes, type.alignment, at.where);
  std::memset(reinterpret_cast<void*>(memory), 0, bytes);
  auto* const object = reinterpret_cast<Object*>(memory);
  detail::ObjectAccess::set_header(object, reinterpret_cast<std::uintptr_t>(&type));
  if (has_items) {
    *reinterpret_cast<std::uint64_t*>(memory + type.length_offset) = length;
  }
  if (destructible) detail::register_destructible(at.mutator, object);
  return NewRef<Object>(object);
}

}  // namespace fallow
