#pragma once

#include <cstddef>
#include <cstdint>

#include "fallow/object.h"
#include "heap/address_space.h"
#include "heap/chunk.h"
#include "heap/intrusive_list.h"
#include "platform/ranked_mutex.h"

namespace fallow::detail {

/// Stands in front of a large object, at the start of its first page.
struct alignas(64) LargeHeader {
  HeapCore* heap;
  ListLinks<LargeHeader> links;
  std::size_t span_bytes;  ///< whole pages, header included
  std::uint8_t color;      ///< of old ones: a MarkColor, in a type that barriers can exchange
  bool young;              ///< born since the last minor collection; see is_young()
  bool reached;            ///< young, and found alive by the running minor collection

  /// Beside mutators that allocate: whoever finds a reference to the object may ask.
  [[nodiscard]] bool is_young() const noexcept { return __atomic_load_n(&young, __ATOMIC_RELAXED); }
  void set_young(bool value) noexcept { __atomic_store_n(&young, value, __ATOMIC_RELAXED); }

  Object* object() noexcept { return reinterpret_cast<Object*>(this + 1); }
  [[nodiscard]] const Object* object() const noexcept {
    return reinterpret_cast<const Object*>(this + 1);
  }
  static LargeHeader* of(const Object* object) noexcept {
    return reinterpret_cast<LargeHeader*>(reinterpret_cast<std::uintptr_t>(object)) - 1;
  }
};

/// Objects above kMaxSmallBytes (and those too large for a tiny nursery): whole pages, never moved.
/// They are born young without passing through the nursery and die in the next minor collection
/// when nothing reaches them. allocate() may be called by any mutator; the rest only while all
/// mutators are stopped.
class LargeSpace {
 public:
  LargeSpace(HeapCore* heap, AddressSpace& space, bool huge_pages);
  ~LargeSpace();
  LargeSpace(const LargeSpace&) = delete;
  LargeSpace& operator=(const LargeSpace&) = delete;

  /// A young object with a zero header word; nullptr when the system refuses. Thread-safe.
  Object* allocate(std::size_t bytes);
  [[nodiscard]] std::size_t span_for(std::size_t bytes) const noexcept;

  /// End of a minor collection: young objects that were reached become old with `color`, the others
  /// die. Returns the bytes that survived.
  std::size_t promote_or_free_young(MarkColor color);
  /// Frees up to `count` old objects whose colour is not `live`; false when the list is done.
  bool sweep_some(std::size_t count, MarkColor live);
  void begin_sweeping() noexcept { sweep_position_ = old_.first(); }

  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return used_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t young_bytes() const noexcept {
    return young_bytes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] platform::RankedMutex& mutex() noexcept { return mutex_; }

  /// Calls visit(header) for each object, young and old.
  template <class Visit>
  void for_each(Visit&& visit) const {
    young_.for_each(visit);
    old_.for_each(visit);
  }

 private:
  using List = IntrusiveList<LargeHeader, &LargeHeader::links>;

  void free(LargeHeader* header) noexcept;

  HeapCore* heap_;
  AddressSpace& space_;
  const bool huge_pages_;
  platform::RankedMutex mutex_;
  List young_;
  List old_;
  LargeHeader* sweep_position_ = nullptr;
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> young_bytes_{0};
};

}  // namespace fallow::detail
