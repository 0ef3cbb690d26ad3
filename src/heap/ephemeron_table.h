#pragma once

#include <cstddef>
#include <cstdint>

#include "fallow/ephemeron.h"

namespace fallow::detail {

/// Ephemerons that were reached before their keys, found by the key when that is reached: so each
/// ephemeron is looked at twice at most, in whatever order they come (as in JavaScript engines
/// since 2019: linear, where looking at all of them again and again is quadratic). Chained through
/// the ephemerons themselves, so that adding needs no memory; with few buckets it is only slower.
class EphemeronTable {
 public:
  EphemeronTable() = default;
  ~EphemeronTable();
  EphemeronTable(const EphemeronTable&) = delete;
  EphemeronTable& operator=(const EphemeronTable&) = delete;

  /// The table is empty: makes it fit for so many.
  void expect(std::size_t ephemerons) noexcept;
  /// `key` is the ephemeron's, which the program may clear meanwhile.
  void add(EphemeronBase* ephemeron, const Object* key) noexcept;
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Removes those with the key; a list linked by EphemeronAccess::link.
  EphemeronBase* take(const Object* key) noexcept;
  /// Removes any, in the order of the buckets; nullptr when there is none.
  EphemeronBase* take_any() noexcept;
  /// Removes all from the table without touching them.
  void forget_all() noexcept;

 private:
  static constexpr std::size_t kInline = 16;

  EphemeronBase** bucket(const Object* key) noexcept;

  EphemeronBase* inline_[kInline] = {};
  EphemeronBase** buckets_ = inline_;
  std::size_t count_ = kInline;  ///< a power of two
  std::size_t size_ = 0;
  std::size_t next_bucket_ = 0;  ///< those before it are empty for take_any()
};

}  // namespace fallow::detail
