#pragma once

#include <cstdint>

#include "fallow/make.h"
#include "fallow/weak.h"

namespace fallow {

namespace detail {

struct EphemeronAccess;

/// Key, value and a link for the collector.
class EphemeronBase : public Object {
 public:
  EphemeronBase(const EphemeronBase&) = delete;
  EphemeronBase& operator=(const EphemeronBase&) = delete;

 protected:
  EphemeronBase(Object* key, Object* value) noexcept : key_(key), value_(value) {}
  friend struct EphemeronAccess;

  Slot key_;
  Slot value_;
  EphemeronBase* link_ = nullptr;
};

struct EphemeronAccess {
  static Object* key(const EphemeronBase* ephemeron) noexcept {
    return ephemeron->key_.load(std::memory_order_relaxed);
  }
  static Object* value(const EphemeronBase* ephemeron) noexcept {
    return ephemeron->value_.load(std::memory_order_relaxed);
  }
  static Object** key_slot(EphemeronBase* ephemeron) noexcept {
    return reinterpret_cast<Object**>(&ephemeron->key_);
  }
  static Object** value_slot(EphemeronBase* ephemeron) noexcept {
    return reinterpret_cast<Object**>(&ephemeron->value_);
  }
  static EphemeronBase*& link(EphemeronBase* ephemeron) noexcept { return ephemeron->link_; }
  static void clear(EphemeronBase* ephemeron) noexcept {
    ephemeron->key_.store(nullptr, std::memory_order_relaxed);
    ephemeron->value_.store(nullptr, std::memory_order_relaxed);
  }
};

/// Notes that an ephemeron with this key exists.
void note_ephemeron(Mutator& mutator, Object* key) noexcept;
/// While a collection is under way: key and value of an ephemeron, or two nulls if its key is dead.
struct KeyAndValue {
  Object* key;
  Object* value;
};
KeyAndValue read_ephemeron(const EphemeronBase* ephemeron) noexcept;

}  // namespace detail

/// A key and a value that lives only as long as the key is reachable otherwise: the ephemeron
/// itself keeps neither, and a value that refers to its own key does not keep the key (Hayes 1997).
/// When the key is dead both become null, before finalizers are delivered: a key that a finalizer
/// brings back is no longer connected with its value, unless the ephemeron was as dead as the key.
///
///     Local<Ephemeron<Node, Notes>> notes(mutator, make_ephemeron(mutator, node, value));
///
/// 32 bytes, immutable but for set_value() and clear(). Collections take time in proportion to the
/// ephemerons that they reach, whatever leads from values to keys.
template <class K, class V>
class Ephemeron : public detail::EphemeronBase {
 public:
  Ephemeron(detail::KindKey, const Ref<K>& key, const Ref<V>& value) noexcept
      : EphemeronBase(reinterpret_cast<Object*>(key.get()),
                      reinterpret_cast<Object*>(value.get())) {}

  /// Null when the key is dead. O(1); during a full collection it keeps what it returns.
  [[nodiscard]] Ref<K> key() const noexcept {
    return Ref<K>(reinterpret_cast<K*>(detail::read_ephemeron(this).key));
  }
  /// Null when the key is dead, too.
  [[nodiscard]] Ref<V> value() const noexcept {
    return Ref<V>(reinterpret_cast<V*>(detail::read_ephemeron(this).value));
  }
  /// Has no effect when the key is dead.
  void set_value(const Ref<V>& value) noexcept {
    if (key()) detail::store_with_barrier(value_, reinterpret_cast<Object*>(value.get()));
  }
  void clear() noexcept {
    key_.store(nullptr, std::memory_order_relaxed);
    detail::store_with_barrier(value_, nullptr);
  }

  static constexpr TypeDescriptor describe() noexcept {
    TypeDescriptor type;
    type.fixed_bytes = sizeof(EphemeronBase);
    type.size_class = detail::size_class_of(sizeof(EphemeronBase));
    type.kind = TypeDescriptor::Kind::kEphemeron;
    type.has_references = true;
    type.bitmap_is_complete = false;  // the collector takes its slow path
    type.name = "fallow::Ephemeron";
    return type;
  }
};

/// May collect: other Refs to key and value are stale afterwards. Throws OutOfMemory.
template <class K, class V>
NewRef<Ephemeron<K, V>> make_ephemeron(detail::MutatorAt at, const Ref<K>& key,
                                       const Ref<V>& value) {
  Ref<K> kept_key = key;
  Ref<V> kept_value = value;
  NewRef<Ephemeron<K, V>> ephemeron = make<Ephemeron<K, V>>(
      at, live(kept_key, kept_value), detail::KindKey{}, kept_key, kept_value);
  detail::note_ephemeron(at.mutator, reinterpret_cast<Object*>(kept_key.get()));
  return ephemeron;
}

}  // namespace fallow
