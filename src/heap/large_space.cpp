#include "heap/large_space.h"

#include <mutex>
#include <new>

#include "platform/sanitizer.h"
#include "platform/virtual_memory.h"

namespace fallow::detail {

namespace {
/// From here on huge pages save more than they waste. Each such object may cost two mappings.
constexpr std::size_t kWorthHugePages = std::size_t{8} << 20;
}  // namespace

LargeSpace::LargeSpace(HeapCore* heap, AddressSpace& space, bool huge_pages)
    : heap_(heap),
      space_(space),
      huge_pages_(huge_pages),
      mutex_(platform::LockRank::kLargeSpace, "large space") {}

LargeSpace::~LargeSpace() {
  for (List* const list : {&young_, &old_}) {
    while (!list->empty()) {
      LargeHeader* const header = list->first();
      list->remove(header);
      space_.discard_pages(reinterpret_cast<std::uintptr_t>(header), header->span_bytes);
    }
  }
}

std::size_t LargeSpace::span_for(std::size_t bytes) const noexcept {
  const std::size_t page = space_.page_bytes();
  return (bytes + sizeof(LargeHeader) + page - 1) / page * page;
}

Object* LargeSpace::allocate(std::size_t bytes) {
  const std::size_t span = span_for(bytes);
  const std::uintptr_t start = space_.acquire_pages(span);
  if (start == 0) return nullptr;
  platform::unpoison(reinterpret_cast<void*>(start), span);
  if (huge_pages_ && span >= kWorthHugePages) {
    platform::advise_huge_pages(reinterpret_cast<void*>(start), span, true);
  }
  auto* const header = ::new (reinterpret_cast<void*>(start)) LargeHeader{};
  header->heap = heap_;
  header->span_bytes = span;
  header->set_young(true);
  ObjectAccess::set_header(header->object(), 0);
  const std::scoped_lock lock(mutex_);
  young_.push_front(header);
  used_.fetch_add(span, std::memory_order_relaxed);
  young_bytes_.fetch_add(span, std::memory_order_relaxed);
  return header->object();
}

std::size_t LargeSpace::promote_or_free_young(MarkColor color) {
  std::size_t survived = 0;
  while (!young_.empty()) {
    LargeHeader* const header = young_.first();
    young_.remove(header);
    if (header->reached) {
      survived += header->span_bytes;
      header->set_young(false);
      header->reached = false;
      header->color = color;
      old_.push_front(header);
    } else {
      free(header);
    }
  }
  young_bytes_.store(0, std::memory_order_relaxed);
  return survived;
}

bool LargeSpace::sweep_some(std::size_t count, MarkColor live) {
  for (; count != 0 && sweep_position_ != nullptr; --count) {
    LargeHeader* const header = sweep_position_;
    sweep_position_ = List::next(header);
    if (header->color == live) continue;
    old_.remove(header);
    free(header);
  }
  return sweep_position_ != nullptr;
}

void LargeSpace::free(LargeHeader* header) noexcept {
  const std::size_t span = header->span_bytes;
  used_.fetch_sub(span, std::memory_order_relaxed);
  platform::poison(header, span);
  space_.release_pages(reinterpret_cast<std::uintptr_t>(header));
}

}  // namespace fallow::detail
