#include "heap/span_allocator.h"

#include <iterator>
#include <new>

namespace fallow::detail {

SpanAllocator::SpanAllocator(std::uintptr_t base, std::size_t bytes, std::size_t granule)
    : granule_(granule) {
  const std::size_t whole = bytes / granule * granule;
  if (whole != 0 && !add_free(base, whole)) throw std::bad_alloc();
}

bool SpanAllocator::add_free(std::uintptr_t start, std::size_t bytes) noexcept {
  auto span = spans_.end();
  try {
    span = spans_.emplace(start, Span{bytes, {}}).first;
    free_.emplace(bytes, start);
  } catch (const std::bad_alloc&) {
    if (span != spans_.end()) spans_.erase(span);
    return false;
  }
  return true;
}

std::uintptr_t SpanAllocator::allocate(std::size_t bytes) noexcept {
  const std::size_t wanted = round_up(bytes);
  const auto fit = free_.lower_bound({wanted, 0});
  if (fit == free_.end()) return 0;
  const auto [found, start] = *fit;
  if (found > wanted && !add_free(start + wanted, found - wanted)) return 0;
  Span& span = spans_.find(start)->second;
  span.bytes = wanted;
  span.entry = free_.extract(fit);
  return start;
}

void SpanAllocator::release(std::uintptr_t start) noexcept {
  auto span = spans_.find(start);
  auto entry = std::move(span->second.entry);
  const auto next = std::next(span);
  if (next != spans_.end() && next->second.is_free()) {
    free_.erase({next->second.bytes, next->first});
    join(span, next);
  }
  if (span != spans_.begin()) {
    const auto before = std::prev(span);
    if (before->second.is_free()) {
      free_.erase({before->second.bytes, before->first});
      join(before, span);
      span = before;
    }
  }
  entry.value() = {span->second.bytes, span->first};
  free_.insert(std::move(entry));
}

void SpanAllocator::join(Spans::iterator first, Spans::iterator second) noexcept {
  first->second.bytes += second->second.bytes;
  spans_.erase(second);
}

}  // namespace fallow::detail
