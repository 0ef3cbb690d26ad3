#include "heap/span_allocator.h"

#include <iterator>
#include <new>

namespace fallow::detail {

SpanAllocator::SpanAllocator(std::uintptr_t base, std::size_t bytes, std::size_t granule)
    : granule_(granule) {
  const std::size_t whole = bytes / granule * granule;
  if (whole != 0 && add_free(base, whole) == nullptr) throw std::bad_alloc();
}

SpanAllocator::Span* SpanAllocator::add_free(std::uintptr_t start, std::size_t bytes) noexcept {
  auto span = spans_.end();
  try {
    span = spans_.try_emplace(start).first;
    free_.emplace(bytes, start);
  } catch (const std::bad_alloc&) {
    if (span != spans_.end()) spans_.erase(span);
    return nullptr;
  }
  span->second.start = start;
  span->second.bytes = bytes;
  return &span->second;
}

bool SpanAllocator::take(Span& span, std::size_t bytes) noexcept {
  Span* rest = nullptr;
  if (span.bytes > bytes) {
    rest = add_free(span.start + bytes, span.bytes - bytes);
    if (rest == nullptr) return false;
  }
  span.entry = free_.extract({span.bytes, span.start});
  span.bytes = bytes;
  if (!span.is_dirty()) return true;
  dirty_bytes_ -= bytes;
  if (rest == nullptr) {
    dirty_.remove(&span);
  } else {
    rest->freed_at_ns = span.freed_at_ns;
    dirty_.replace(&span, rest);
  }
  return true;
}

std::uintptr_t SpanAllocator::allocate(std::size_t bytes) noexcept {
  const std::size_t wanted = round_up(bytes);
  const auto fit = free_.lower_bound({wanted, 0});
  if (fit == free_.end()) return 0;
  const std::uintptr_t start = fit->second;
  return take(spans_.find(start)->second, wanted) ? start : 0;
}

SpanAllocator::Taken SpanAllocator::take_dirty(std::uint64_t freed_by_ns,
                                               std::size_t at_most) noexcept {
  if (dirty_.empty() || dirty_.first()->freed_at_ns > freed_by_ns) return {};
  Span& oldest = *dirty_.first();
  if (oldest.bytes <= at_most || !take(oldest, at_most)) take(oldest, oldest.bytes);
  return {oldest.start, oldest.bytes};
}

void SpanAllocator::release(std::uintptr_t start, std::uint64_t freed_at_ns) noexcept {
  const auto released = spans_.find(start);
  Span* span = &released->second;
  auto entry = std::move(span->entry);
  span->freed_at_ns = freed_at_ns;
  if (span->is_dirty()) {
    dirty_.push_back(span);
    dirty_bytes_ += span->bytes;
  }
  const auto merges = [span](const Span& other) {
    return other.is_free() && other.is_dirty() == span->is_dirty();
  };
  const auto next = std::next(released);
  if (next != spans_.end() && merges(next->second)) {
    free_.erase({next->second.bytes, next->first});
    join(*span, next);
  }
  if (released != spans_.begin()) {
    Span& before = std::prev(released)->second;
    if (merges(before)) {
      free_.erase({before.bytes, before.start});
      join(before, released);
      span = &before;
    }
  }
  entry.value() = {span->bytes, span->start};
  free_.insert(std::move(entry));
}

void SpanAllocator::join(Span& first, Spans::iterator second) noexcept {
  Span& other = second->second;
  if (first.is_dirty()) {
    // The age of the larger one: a small neighbour that comes and goes keeps nothing young.
    if (other.bytes > first.bytes) {
      first.freed_at_ns = other.freed_at_ns;
      dirty_.remove(&first);
      dirty_.replace(&other, &first);
    } else {
      dirty_.remove(&other);
    }
  }
  first.bytes += other.bytes;
  spans_.erase(second);
}

}  // namespace fallow::detail
