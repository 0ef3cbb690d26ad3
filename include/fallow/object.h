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
/// functions, and its destructor must be trivial, since memory is reclaimed without visiting dead
/// objects, or announced (see fallow/destruction.h).
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
/// Of most objects all are zero.
struct ObjectAccess {
  /// For the offset of the header in a derived type.
  static constexpr std::uintptr_t Object::* kHeaderMember = &Object::header_;
  static constexpr std::uintptr_t kForwardedBit = 1;
  /// The identity hash was asked for while the object was young: it is written behind the object
  /// when that is promoted.
  static constexpr std::uintptr_t kHashedBit = 2;
  /// Is, or was, the key of an ephemeron.
  static constexpr std::uintptr_t kEphemeronKeyBit = 4;
  /// Registered with a FinalizerQueue.
  static constexpr std::uintptr_t kFinalizerBit = 8;
  /// Dead, and the other bits are the address of its LifeEntry (only inside the collector).
  static constexpr std::uintptr_t kEntryBit = 16;
  static constexpr std::uintptr_t kStateMask = 63;

  /// State bits may be set by other threads.
  static std::uintptr_t header(const Object* object) noexcept {
    return __atomic_load_n(&object->header_, __ATOMIC_RELAXED);
  }
  /// Sets or clears state bits beside other threads; returns the header before.
  static std::uintptr_t set_bits(Object* object, std::uintptr_t bits) noexcept {
    return __atomic_fetch_or(&object->header_, bits, __ATOMIC_RELAXED);
  }
  static std::uintptr_t clear_bits(Object* object, std::uintptr_t bits) noexcept {
    return __atomic_fetch_and(&object->header_, ~bits, __ATOMIC_RELAXED);
  }
  static void set_header(Object* object, std::uintptr_t header) noexcept {
    object->header_ = header;
  }
  static const TypeDescriptor* descriptor(const Object* object) noexcept {
    return reinterpret_cast<const TypeDescriptor*>(header(object) & ~kStateMask);
  }
};

}  // namespace detail
}  // namespace fallow
