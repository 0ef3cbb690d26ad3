#include "heap/span_allocator.h"

#include <iterator>

namespace fallow::detail {

SpanAllocator::SpanAllocator(std::uintptr_t base, std::size_t bytes, std::size_t granule)
    : granule_(granule) {
  if (bytes >= granule) insert(base, bytes / granule * granule);
}

std::uintptr_t SpanAllocator::allocate(std::size_t bytes) {
  const std::size_t wanted = round_up(bytes);
  const auto fit = by_size_.lower_bound({wanted, 0});
  if (fit == by_size_.end()) return 0;
  const auto [found, start] = *fit;
  erase(by_address_.find(start));
  if (found > wanted) insert(start + wanted, found - wanted);
  return start;
}

void SpanAllocator::release(std::uintptr_t start, std::size_t bytes) {
  bytes = round_up(bytes);
  auto next = by_address_.lower_bound(start);
  if (next != by_address_.end() && start + bytes == next->first) {
    bytes += next->second;
    const auto merged = next++;
    erase(merged);
  }
  if (next != by_address_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      start = before->first;
      bytes += before->second;
      erase(before);
    }
  }
  insert(start, bytes);
}

void SpanAllocator::insert(std::uintptr_t start, std::size_t bytes) {
  by_address_.emplace(start, bytes);
  by_size_.emplace(bytes, start);
}

void SpanAllocator::erase(std::map<std::uintptr_t, std::size_t>::iterator span) {
  by_size_.erase({span->second, span->first});
  by_address_.erase(span);
}

}  // namespace fallow::detail
