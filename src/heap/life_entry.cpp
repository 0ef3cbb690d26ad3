#include "heap/life_entry.h"

#include <cstdlib>
#include <new>

namespace fallow::detail {

namespace {
constexpr std::size_t kSlabBytes = std::size_t{64} << 10;
/// Empty slabs that wait for the next use.
constexpr std::size_t kKeptSlabs = 1;
}  // namespace

/// At a multiple of its size, so that an entry finds its slab.
struct EntryPool::Slab {
  Slab* previous;
  Slab* next;
  EntryChain free;

  static constexpr std::size_t kEntries = (kSlabBytes - 64) / sizeof(LifeEntry);

  static Slab* of(LifeEntry* entry) noexcept {
    return reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(entry) & ~(kSlabBytes - 1));
  }
  static Slab* make() {
    void* const memory = std::aligned_alloc(kSlabBytes, kSlabBytes);
    if (memory == nullptr) throw std::bad_alloc();
    auto* const slab = ::new (memory) Slab{};
    static_assert(sizeof(Slab) <= 64);
    auto* const entries = reinterpret_cast<LifeEntry*>(static_cast<char*>(memory) + 64);
    for (std::size_t i = 0; i < kEntries; ++i) slab->free.push_back(::new (&entries[i]) LifeEntry);
    return slab;
  }
};

EntryPool::~EntryPool() {
  // Entries in use belong to the heap, which ends: all slabs with free ones are linked, full ones
  // are not, so the heap gives everything back before.
  while (with_free_ != nullptr) {
    Slab* const slab = with_free_;
    unlink(slab);
    std::free(slab);
  }
}

void EntryPool::link(Slab* slab) noexcept {
  slab->previous = nullptr;
  slab->next = with_free_;
  if (with_free_ != nullptr) with_free_->previous = slab;
  with_free_ = slab;
}

void EntryPool::unlink(Slab* slab) noexcept {
  (slab->previous == nullptr ? with_free_ : slab->previous->next) = slab->next;
  if (slab->next != nullptr) slab->next->previous = slab->previous;
}

void EntryPool::take(EntryChain& chain, std::size_t count) {
  const std::scoped_lock lock(mutex_);
  if (with_free_ == nullptr) {
    link(Slab::make());
    ++slabs_;
    ++empty_slabs_;
  }
  Slab* const slab = with_free_;
  if (slab->free.size() == Slab::kEntries) --empty_slabs_;
  for (; count != 0 && !slab->free.empty(); --count) chain.push_front(slab->free.pop_front());
  if (slab->free.empty()) unlink(slab);
}

void EntryPool::give_back(EntryChain& chain) noexcept {
  const std::scoped_lock lock(mutex_);
  while (!chain.empty()) free(chain.pop_front());
}

void EntryPool::free(LifeEntry* entry) noexcept {
  Slab* const slab = Slab::of(entry);
  if (slab->free.empty()) link(slab);
  slab->free.push_front(entry);
  if (slab->free.size() != Slab::kEntries) return;
  if (empty_slabs_ < kKeptSlabs) {
    ++empty_slabs_;
    return;
  }
  unlink(slab);
  --slabs_;
  std::free(slab);
}

std::size_t EntryPool::bytes() const noexcept {
  return slabs_.load(std::memory_order_relaxed) * kSlabBytes;
}

}  // namespace fallow::detail
