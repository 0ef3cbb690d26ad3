#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "fallow/object.h"
#include "platform/ranked_mutex.h"

namespace fallow::detail {

class DeliveryQueue;

/// What the heap keeps outside of it about an object with a life of its own: a weak reference, an
/// object with a destructor or with a finalizer. Aligned so that its address can stand in the
/// header of a dead object while finalizers are put into order.
struct alignas(32) LifeEntry {
  Object* object;
  LifeEntry* next;
  std::uintptr_t header;  ///< the object's own, while the entry stands in its place
  DeliveryQueue* queue;   ///< that the object, or the cleared weak reference, goes to; may be null
};

/// If an entry stands in the object's header, gives that its own value and returns the entry.
inline LifeEntry* restore_header(Object* object) noexcept {
  const std::uintptr_t header = ObjectAccess::header(object);
  if ((header & ObjectAccess::kEntryBit) == 0) [[likely]]
    return nullptr;
  auto* const entry =
      reinterpret_cast<LifeEntry*>(header & ~std::uintptr_t{alignof(LifeEntry) - 1});
  ObjectAccess::set_header(object, entry->header);
  return entry;
}

/// A singly linked list of entries. Relinking needs no memory, so the collector can do it.
class EntryChain {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] LifeEntry* front() const noexcept { return head_; }

  void push_back(LifeEntry* entry) noexcept {
    entry->next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = entry;
    tail_ = entry;
    ++size_;
  }
  void push_front(LifeEntry* entry) noexcept {
    entry->next = head_;
    if (head_ == nullptr) tail_ = entry;
    head_ = entry;
    ++size_;
  }
  LifeEntry* pop_front() noexcept {
    LifeEntry* const entry = head_;
    head_ = entry->next;
    --size_;
    return entry;
  }
  /// All of `other`, behind what is here.
  void splice(EntryChain& other) noexcept {
    if (other.empty()) return;
    (head_ == nullptr ? head_ : tail_->next) = other.head_;
    tail_ = other.tail_;
    size_ += other.size_;
    other = EntryChain();
  }

 private:
  LifeEntry* head_ = nullptr;
  LifeEntry* tail_ = nullptr;
  std::size_t size_ = 0;
};

/// Memory for the entries of a heap, in slabs that go back to the system when they hold none.
/// Thread-safe; mutators keep some for themselves, so that registering takes no lock.
class EntryPool {
 public:
  explicit EntryPool(platform::RankedMutex& mutex) noexcept : mutex_(mutex) {}
  ~EntryPool();
  EntryPool(const EntryPool&) = delete;
  EntryPool& operator=(const EntryPool&) = delete;

  /// Moves up to `count` free entries into `chain`. Throws std::bad_alloc when there is none.
  void take(EntryChain& chain, std::size_t count);
  void give_back(EntryChain& chain) noexcept;
  /// For the collector, while nobody else uses the pool.
  void free(LifeEntry* entry) noexcept;

  /// Of the slabs.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Slab;

  void link(Slab* slab) noexcept;
  void unlink(Slab* slab) noexcept;

  platform::RankedMutex& mutex_;
  Slab* with_free_ = nullptr;  ///< slabs with free entries, linked both ways
  std::atomic<std::size_t> slabs_{0};
  std::size_t empty_slabs_ = 0;
};

}  // namespace fallow::detail
