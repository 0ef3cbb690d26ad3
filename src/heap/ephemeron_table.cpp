#include "heap/ephemeron_table.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace fallow::detail {

EphemeronTable::~EphemeronTable() {
  if (buckets_ != inline_) std::free(static_cast<void*>(buckets_));
}

void EphemeronTable::expect(std::size_t ephemerons) noexcept {
  const std::size_t wanted = std::bit_ceil(std::max(ephemerons, kInline));
  next_bucket_ = 0;
  if (wanted == count_) return;
  // Fresh memory of the system is zero without being touched.
  auto* const buckets =
      wanted == kInline ? inline_
                        : static_cast<EphemeronBase**>(std::calloc(wanted, sizeof(EphemeronBase*)));
  if (buckets == nullptr) return;
  if (buckets_ != inline_) std::free(static_cast<void*>(buckets_));
  buckets_ = buckets;
  count_ = wanted;
}

EphemeronBase** EphemeronTable::bucket(const Object* key) noexcept {
  const std::uint64_t hash = (reinterpret_cast<std::uintptr_t>(key) >> 3) * 0x9e3779b97f4a7c15u;
  return &buckets_[hash >> 32 & (count_ - 1)];
}

void EphemeronTable::add(EphemeronBase* ephemeron, const Object* key) noexcept {
  EphemeronBase** const place = bucket(key);
  EphemeronAccess::link(ephemeron) = *place;
  *place = ephemeron;
  ++size_;
  next_bucket_ = std::min(next_bucket_, static_cast<std::size_t>(place - buckets_));
}

EphemeronBase* EphemeronTable::take(const Object* key) noexcept {
  if (size_ == 0) return nullptr;
  EphemeronBase* taken = nullptr;
  EphemeronBase** place = bucket(key);
  while (*place != nullptr) {
    EphemeronBase* const each = *place;
    if (EphemeronAccess::key(each) != key) {
      place = &EphemeronAccess::link(each);
      continue;
    }
    *place = EphemeronAccess::link(each);
    EphemeronAccess::link(each) = taken;
    taken = each;
    --size_;
  }
  return taken;
}

EphemeronBase* EphemeronTable::take_any() noexcept {
  if (size_ == 0) return nullptr;
  while (buckets_[next_bucket_] == nullptr) ++next_bucket_;
  EphemeronBase* const taken = buckets_[next_bucket_];
  buckets_[next_bucket_] = EphemeronAccess::link(taken);
  --size_;
  return taken;
}

void EphemeronTable::forget_all() noexcept {
  std::fill_n(buckets_, count_, nullptr);
  size_ = 0;
  next_bucket_ = 0;
}

}  // namespace fallow::detail
