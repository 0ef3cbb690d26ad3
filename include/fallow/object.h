#pragma once

#include <cstddef>
#include <cstdint>

namespace fallow {

struct TypeDescriptor;

namespace detail {
struct ObjectAccess;
}

/// Base of every managed type: one header word in front of the members.
///
/// A managed type derives from Object (first base), names its reference members (see
/// fallow/type.h) and is created with make<T>() (see fallow/make.h). It needs no virtual
/// functions, and its destructor must be trivial: memory is reclaimed without visiting dead
/// objects.
///
///     struct Node : fallow::Object {
///       fallow::Field<Node> left, right;
///       int value = 0;
///       using Fields = fallow::FieldList<&Node::left, &Node::right>;
///     };
///
/// Layout: the header holds the address of the TypeDescriptor and, in its low bits, collector
/// state. Objects are at least 16 bytes, a multiple of 8, and 16-byte aligned on request (alignas).
class Object {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

 protected:
  Object() noexcept {}  // NOLINT: the header is written by make<T>(), after the constructor
  ~Object() = default;

 private:
  friend struct detail::ObjectAccess;
  std::uintptr_t header_;
};

static_assert(sizeof(Object) == sizeof(std::uintptr_t));

/// Smallest object and the granule of object sizes, in bytes.
inline constexpr std::size_t kMinimumObjectBytes = 16;
inline constexpr std::size_t kObjectGranule = 8;

namespace detail {

/// The only code that reads or writes header words. Descriptors are 64-byte aligned, so the low
/// six bits are free for state: bit 0 says "forwarded", and the other bits are then the address.
struct ObjectAccess {
  /// For the offset of the header in a derived type.
  static constexpr std::uintptr_t Object::* kHeaderMember = &Object::header_;
  static constexpr std::uintptr_t kForwardedBit = 1;
  static constexpr std::uintptr_t kStateMask = 63;

  static std::uintptr_t header(const Object* object) noexcept { return object->header_; }
  static void set_header(Object* object, std::uintptr_t header) noexcept {
    object->header_ = header;
  }
  static const TypeDescriptor* descriptor(const Object* object) noexcept {
    return reinterpret_cast<const TypeDescriptor*>(object->header_ & ~kStateMask);
  }
};

}  // namespace detail
}  // namespace fallow
