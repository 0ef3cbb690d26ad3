#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace fallow::detail {

/// Hands out spans of an address range: best fit, lowest address first, neighbours merge on
/// release. Keeps its books outside the range; a span keeps its entries while it is in use, so that
/// release needs no memory. O(log spans). Not thread-safe.
class SpanAllocator {
 public:
  SpanAllocator() = default;
  /// Throws std::bad_alloc.
  SpanAllocator(std::uintptr_t base, std::size_t bytes, std::size_t granule);

  /// A span of at least `bytes`, rounded up to the granule; 0 when no free span is large enough, or
  /// without memory for the books.
  std::uintptr_t allocate(std::size_t bytes) noexcept;
  /// Takes back a span that starts at `start`.
  void release(std::uintptr_t start) noexcept;

  [[nodiscard]] std::size_t granule() const noexcept { return granule_; }
  [[nodiscard]] std::size_t round_up(std::size_t bytes) const noexcept {
    return (bytes + granule_ - 1) / granule_ * granule_;
  }

  /// Calls visit(start, bytes) for every free span below `end`, in address order.
  template <class Visit>
  void for_each_free(std::uintptr_t end, Visit&& visit) const {
    for (const auto& [start, span] : spans_) {
      if (start >= end) break;
      if (!span.is_free()) continue;
      visit(start, start + span.bytes > end ? end - start : span.bytes);
    }
  }

 private:
  /// Sizes and starts of the free spans.
  using FreeSet = std::set<std::pair<std::size_t, std::uintptr_t>>;
  struct Span {
    std::size_t bytes;
    FreeSet::node_type entry;  ///< kept here while the span is in use

    [[nodiscard]] bool is_free() const noexcept { return entry.empty(); }
  };
  using Spans = std::map<std::uintptr_t, Span>;

  /// False when there is no memory.
  bool add_free(std::uintptr_t start, std::size_t bytes) noexcept;
  void join(Spans::iterator first, Spans::iterator second) noexcept;

  std::size_t granule_ = 1;
  Spans spans_;  ///< free ones and those in use, by their start
  FreeSet free_;
};

}  // namespace fallow::detail
