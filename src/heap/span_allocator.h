#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "heap/intrusive_list.h"

namespace fallow::detail {

/// Hands out spans of an address range: best fit, lowest address first, neighbours merge on
/// release. Keeps its books outside the range; a span keeps its entries while it is in use, so that
/// release needs no memory. O(log spans). Not thread-safe.
///
/// A free span is clean, or dirty: it may hold memory of the system, and has been free since some
/// moment. Only spans of one kind merge; of two dirty ones the larger one says since when.
class SpanAllocator {
 public:
  static constexpr std::uint64_t kClean = 0;

  SpanAllocator() = default;
  /// Throws std::bad_alloc.
  SpanAllocator(std::uintptr_t base, std::size_t bytes, std::size_t granule);

  /// A span of at least `bytes`, rounded up to the granule; 0 when no free span is large enough, or
  /// without memory for the books.
  std::uintptr_t allocate(std::size_t bytes) noexcept;
  /// Takes back a span that starts at `start`; dirty unless `freed_at_ns` is kClean.
  void release(std::uintptr_t start, std::uint64_t freed_at_ns = kClean) noexcept;

  struct Taken {
    std::uintptr_t start = 0;
    std::size_t bytes = 0;
  };
  /// The span that has been dirty for the longest time, if it was at `freed_by_ns`, or its
  /// first `at_most` bytes: in use until it is released. Without memory for the books it may be
  /// longer.
  Taken take_dirty(std::uint64_t freed_by_ns, std::size_t at_most) noexcept;
  [[nodiscard]] std::size_t dirty_bytes() const noexcept { return dirty_bytes_; }

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
    std::uintptr_t start = 0;
    std::size_t bytes = 0;
    std::uint64_t freed_at_ns = kClean;
    ListLinks<Span> by_age{};    ///< of the dirty ones
    FreeSet::node_type entry{};  ///< kept here while the span is in use

    [[nodiscard]] bool is_free() const noexcept { return entry.empty(); }
    [[nodiscard]] bool is_dirty() const noexcept { return freed_at_ns != kClean; }
  };
  using Spans = std::map<std::uintptr_t, Span>;

  /// nullptr when there is no memory.
  Span* add_free(std::uintptr_t start, std::size_t bytes) noexcept;
  /// The first `bytes` of a free span become one in use; false when there is no memory.
  bool take(Span& span, std::size_t bytes) noexcept;
  void join(Span& first, Spans::iterator second) noexcept;

  std::size_t granule_ = 1;
  Spans spans_;  ///< free ones and those in use, by their start
  FreeSet free_;
  IntrusiveList<Span, &Span::by_age> dirty_;  ///< the oldest first
  std::size_t dirty_bytes_ = 0;
};

}  // namespace fallow::detail
